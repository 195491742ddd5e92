// An attack by one key, account or stranger on all others.
import type { Hostile } from './hostile.ts'

/** The models of an attacker's key. */
export const SCENE_MODELS: readonly string[] = ['gpt-*', 'text-*', 'whisper-*', 'xai/stt']

/** Where an attack takes place. */
export interface Scene {
  readonly port: number
  /**
   * Of the attacker: a key with {@link SCENE_MODELS}, a key of one request a minute that is used
   * up, a token for everything.
   */
  readonly key: string
  readonly usedUp: string
  readonly token: string
  /** Connections, requests or uploads of one attack; bytes of the largest body. */
  readonly many: number
  readonly body: number
}

export interface Attack {
  readonly name: string
  /** The settings that bound what it uses. */
  readonly against: readonly string[]
  /** What the others do meanwhile. */
  readonly others: 'proxy' | 'convert'
  /** What the attacker may get. */
  readonly responses: readonly number[]
  /** Left to the bench: in a small volume it shows nothing that another row does not. */
  readonly large?: boolean
  /** Begins it; resolves when it is under way. */
  begin(scene: Scene, hostile: Hostile): Promise<unknown>
}

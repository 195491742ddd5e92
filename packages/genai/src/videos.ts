import { PROXY_MANAGED } from '@proxy-sdk/core'
import type { Fetch } from '@proxy-sdk/core'

/** What is used of a video model, whichever version of the AI SDK it is for. */
interface VideoModel {
  doGenerate?: unknown
  doStatus?: unknown
}

interface OriginalRequest {
  abortSignal?: AbortSignal
}

/**
 * The same models, but their results hold the videos themselves. The model names an address for
 * each, which the AI SDK would fetch past the provider's `fetch`, with the placeholder as the key:
 * https://ai.google.dev/gemini-api/docs/video. One without it is not Google's, and not the proxy's.
 */
export function withProxiedDownloads<Id, Model extends VideoModel>(
  create: (id: Id) => Model,
  proxyFetch: Fetch,
): (id: Id) => Model {
  return (id) => {
    const model = create(id)
    // AI SDK 6 calls the one, 7 the other; both answer with `videos`, the second only when they are
    // done.
    for (const name of ['doGenerate', 'doStatus'] as const) {
      const original = model[name]
      if (typeof original !== 'function') continue
      model[name] = async (asked: OriginalRequest) =>
        withVideos(await original.call(model, asked), proxyFetch, asked.abortSignal)
    }
    return model
  }
}

async function withVideos(
  result: object,
  proxyFetch: Fetch,
  signal: AbortSignal | undefined,
): Promise<object> {
  const videos: unknown = Reflect.get(result, 'videos')
  if (!Array.isArray(videos)) return result
  return {
    ...result,
    videos: await Promise.all(videos.map((video: unknown) => withBytes(video, proxyFetch, signal))),
  }
}

/**
 * @throws Error with the answer's status and text when a video cannot be had; nothing is generated
 * a second time for that
 */
async function withBytes(
  video: unknown,
  proxyFetch: Fetch,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isAddress(video) || !video.url.includes(PROXY_MANAGED)) return video
  const response = await proxyFetch(video.url, signal === undefined ? {} : { signal })
  if (!response.ok)
    throw new Error(
      `The video was made but cannot be downloaded: ${response.status} ${await response.text()}`,
    )
  return {
    type: 'binary',
    data: new Uint8Array(await response.arrayBuffer()),
    mediaType: video.mediaType,
  }
}

interface Address {
  url: string
  mediaType?: unknown
}

function isAddress(video: unknown): video is Address {
  return (
    typeof video === 'object' &&
    video !== null &&
    'type' in video &&
    video.type === 'url' &&
    'url' in video &&
    typeof video.url === 'string'
  )
}

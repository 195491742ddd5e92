import { PROXY_MANAGED } from '@proxy-sdk/core'
import type { Fetch } from '@proxy-sdk/core'

/** The used members of a video model, in any version of the AI SDK. */
interface VideoModel {
  doGenerate?: unknown
  doStatus?: unknown
}

interface OriginalRequest {
  abortSignal?: AbortSignal
}

/**
 * The same models, but their results contain the videos themselves. The model returns an address
 * for each, which the AI SDK would fetch without the provider's `fetch`, with the placeholder as
 * the key: https://ai.google.dev/gemini-api/docs/video. An address without it is not Google's, and
 * is not fetched here.
 */
export function withProxiedDownloads<Id, Model extends VideoModel>(
  create: (id: Id) => Model,
  proxyFetch: Fetch,
): (id: Id) => Model {
  return (id) => {
    const model = create(id)
    // AI SDK 6 calls the first, 7 the second; both return `videos`, the second only when they are
    // complete.
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
 * @throws Error with the response's status and text if a video cannot be fetched; it is not
 *   generated again
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

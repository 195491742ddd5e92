#!/bin/sh
# A response of Gemini at once, then the same as a stream. The upstream address is encoded as a whole, because it has a query of its own.
set -eu

proxy=${NEXT_PUBLIC_AI_PROXY_URL:-http://localhost:8484}
gemini=https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash

ask() {
  curl --silent --show-error --fail-with-body --no-buffer "$proxy/proxy" --url-query "url=$1" \
    --header "Authorization: Bearer $NEXT_PUBLIC_AI_PROXY_KEY" --header 'Content-Type: application/json' \
    --data-raw '{"contents":[{"role":"user","parts":[{"text":"Why is the sky blue?"}]}]}'
}

ask "$gemini:generateContent"
ask "$gemini:streamGenerateContent?alt=sse"

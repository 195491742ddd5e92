# Build the server's image with `docker build -t tollmark .`. It runs with a read-only root file system, as an unprivileged user: data is in
# /data, temporary files are in /tmp. compose.yaml shows how to mount both.
FROM node:24-slim AS base
WORKDIR /app
ENV NODE_ENV=production
# Only what npm needs, without the source, so that this layer is rebuilt only when a dependency changes.
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY dashboard/package.json dashboard/
COPY packages/notion-markdown/package.json packages/notion-markdown/
COPY packages/core/package.json packages/core/
COPY packages/genai/package.json packages/genai/
COPY packages/genai-express/package.json packages/genai-express/

# The dashboard's build tool consists of optional packages, one per platform.
FROM base AS dashboard
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
# The dashboard imports the server's table of clients.
COPY server/common/clients.ts server/common/
COPY dashboard dashboard
RUN node dashboard/build.ts

# The packages for running the server, without the dashboard's and without the Node that npm installs on older machines.
FROM base AS packages
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    --workspace=server --include-workspace-root

FROM node:24-slim
WORKDIR /app
# Converters share compiled code in /tmp (the root is read-only), so all but the first start in a third of the time.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/compiled \
    HOST=0.0.0.0 \
    TOLLMARK_DATA=/data
RUN mkdir /data && chown node:node /data
# Copy the whole folder: if two workspaces need different versions of a package, one of them is not in /app/node_modules.
COPY --from=packages /app ./
COPY LICENSE ./
COPY packages packages
COPY server server
# At start, the server checks whether the dashboard was built from this source, so the source must be in the image.
COPY dashboard dashboard
COPY --from=dashboard /app/dashboard/dist dashboard/dist
USER node
VOLUME /data
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8484) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The same options as in scripts/launch.mjs.
ENTRYPOINT ["node", "--conditions=tollmark", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=16", "--initial-old-space-size=128", "server/cli/main.ts"]
CMD ["serve"]

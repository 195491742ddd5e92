# The server as an image: `docker build -t tollmark .`. It runs from a read-only root, as a user without rights: what it keeps is in /data,
# what it may lose in /tmp. compose.yaml shows both.
FROM node:24-slim AS base
WORKDIR /app
ENV NODE_ENV=production
# What npm needs to know before the sources: this layer is made again only when a dependency changes.
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY dashboard/package.json dashboard/
COPY packages/notion-markdown/package.json packages/notion-markdown/
COPY packages/core/package.json packages/core/
COPY packages/genai/package.json packages/genai/
COPY packages/genai-express/package.json packages/genai-express/

# The dashboard's builder is made of optional packages, one for each kind of machine.
FROM base AS dashboard
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
# The table of clients is the server's.
COPY server/common/clients.ts server/common/
COPY dashboard dashboard
RUN node dashboard/build.ts

# What runs, without the dashboard's packages and the Node that npm brings for older machines.
FROM base AS packages
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    --workspace=server --include-workspace-root

FROM node:24-slim
WORKDIR /app
# What one converter has compiled the next ones find in /tmp (the root is read-only): they start in a third of the time.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/compiled \
    HOST=0.0.0.0 \
    TOLLMARK_DATA=/data
RUN mkdir /data && chown node:node /data
# The whole folder: a package that two workspaces want in different versions lies below one of them, not in /app/node_modules.
COPY --from=packages /app ./
COPY LICENSE ./
COPY packages packages
COPY server server
# The start looks whether the dashboard was built from these sources, so they come along.
COPY dashboard dashboard
COPY --from=dashboard /app/dashboard/dist dashboard/dist
USER node
VOLUME /data
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8484) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# As scripts/launch.mjs starts it.
ENTRYPOINT ["node", "--conditions=tollmark", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=16", "--initial-old-space-size=128", "--expose-gc", "server/cli/main.ts"]
CMD ["serve"]

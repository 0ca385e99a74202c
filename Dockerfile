# docker build -t rankbounds . && docker run --rm -v "$PWD:/data" rankbounds evaluate qrels.txt runs
FROM python:3.12-slim AS build
COPY . /source
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && pip wheel --no-deps -w /wheels /source

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/rankbounds-*.whl)[report]"
WORKDIR /data
USER 1000
ENTRYPOINT ["rankbounds"]
CMD ["demo"]

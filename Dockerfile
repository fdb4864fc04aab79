# docker build -t draftproof . && docker run --rm -v "$PWD:/work" draftproof audit mine.py:verify
FROM python:3.12-slim
ARG NEEDS=""
COPY . /src
RUN pip install --no-cache-dir -c /src/constraints.txt /src $NEEDS && rm -rf /src
WORKDIR /work
ENTRYPOINT ["draftproof"]

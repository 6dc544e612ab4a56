# An image for `make run` and `make test`, with Swift 6.3 on Debian 12:
#     docker build -t segue . && docker run -it --rm segue
FROM swift:6.3-bookworm
WORKDIR /segue
RUN apt-get update && apt-get install --yes --no-install-recommends make git
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY . .
CMD ["bash", "-c", "make run && exec bash"]

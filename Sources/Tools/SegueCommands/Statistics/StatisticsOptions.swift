internal import ArgumentParser

/// How statistics are shown.
struct StatisticsOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("interval"),
        help: ArgumentHelp("How often statistics are shown, as in 500ms. (default: 1s)", valueName: "time"),
        transform: Duration.argument)
    var givenInterval: Duration?

    var interval: Duration { givenInterval ?? .seconds(1) }
}

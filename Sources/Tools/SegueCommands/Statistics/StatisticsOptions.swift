internal import ArgumentParser

/// How statistics are shown.
struct StatisticsOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("How often statistics are shown, as in 500ms. (default: 1s)", valueName: "time"),
        transform: Duration.argument)
    var interval: Duration = .seconds(1)
}

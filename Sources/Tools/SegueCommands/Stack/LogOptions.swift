internal import ArgumentParser

/// How lines of logs are written.
struct LogOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Each line with its time, in UTC.")
    var timestamps = false

    @Flag(name: .customLong("no-log-prefix"), help: "Without the names of the services.")
    var noLogPrefix = false

    @Flag(name: .customLong("no-color"), help: "Without colours, also on a terminal.")
    var noColor = false

    @Flag(help: "One JSON object a line: service, time, stream and text.")
    var json = false

    var style: LogPrinter.Style {
        LogPrinter.Style(hasTime: timestamps, hasPrefix: !noLogPrefix, hasColor: !noColor, isJSON: json)
    }
}

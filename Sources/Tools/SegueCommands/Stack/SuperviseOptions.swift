internal import ArgumentParser
internal import Compose

/// How a supervisor goes about its work, in the foreground or not.
struct SuperviseOptions: ParsableArguments, Sendable {
    @OptionGroup var grace: GraceOption

    @Flag(help: "Stop all as soon as one service has failed for good.")
    var abortOnFailure = false

    func supervisorOptions(stopSignals: [Int32]) -> SupervisorOptions {
        SupervisorOptions(stopGrace: grace.grace, abortsOnFailure: abortOnFailure, stopSignals: stopSignals)
    }

    /// As a command line says it.
    var arguments: [String] {
        (grace.timeout.map { ["--timeout", String($0)] } ?? []) + (abortOnFailure ? ["--abort-on-failure"] : [])
    }
}

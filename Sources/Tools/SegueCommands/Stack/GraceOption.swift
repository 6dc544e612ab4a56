internal import ArgumentParser

/// What processes are granted that have to end.
struct GraceOption: ParsableArguments, Sendable {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "How long each may take to end before it is killed. Without it: its stop_grace_period.",
            valueName: "seconds"))
    var timeout: Int?

    func validate() throws {
        try Self.check(timeout)
    }

    static func check(_ timeout: Int?) throws {
        guard let timeout, !(0...86_400).contains(timeout) else { return }
        throw ValidationError("-t is \(timeout); it has to be 0 to 86400")
    }

    var grace: Duration? { timeout.map { .seconds($0) } }
}

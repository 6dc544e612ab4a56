internal import ArgumentParser

/// How messages are written.
struct PrintOptions: ParsableArguments, Sendable {
    @Flag(help: "One JSON object a line, with all attributes.")
    var json = false

    @Option(
        help: ArgumentHelp("Only the value at this path of it, as in data.url.", valueName: "path"),
        completion: .messagePaths)
    var field: String?

    func validate() throws {
        guard !json || field == nil else { throw ValidationError("--json and --field exclude each other") }
    }
}

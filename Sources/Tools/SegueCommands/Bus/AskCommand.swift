package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor

package struct AskCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Puts a query to the process that serves it, and prints the answer.",
        discussion: """
            segue ask PlaylistSongs '{"playlistID": "p1"}'         the answer's data, for a person to read
            segue ask PlaylistSongs '{"playlistID": "p1"}' --json  the same on one line
            segue ask PlaylistSongs - < question.json              the query's data from a file

            It ends with status 1 when the answer is an error, 65 when the query's data is not what whoever serves it \
            takes, 69 when nobody serves the query, and 75 when no answer came in time.
            """)

    @OptionGroup var options: BusOptions

    @Argument(
        help: ArgumentHelp("The query's name, as in PlaylistSongs.", valueName: "query"),
        completion: .messageNames(of: .query))
    var name: String

    @Argument(help: MessageData.help, completion: .messageData)
    var text = "{}"

    @OptionGroup var check: CheckOptions

    @Option(help: "The session.")
    var subject = Session.default

    @Option(
        help: ArgumentHelp("How long to wait for the answer, as in 500ms or 1m. (default: 5s)", valueName: "time"),
        transform: Duration.argument)
    var timeout = Duration.seconds(5)

    @Flag(help: "The JSON as it was answered, on one line.")
    var json = false

    package init() {}

    package func validate() throws {
        guard type != nil else {
            throw ValidationError("'\(name)' is not the name of a query such as PlaylistSongs")
        }
        try MessageData.validate(text)
    }

    private var type: MessageType? { MessageSpelling.type(name, of: .query) }

    package func run() async throws {
        guard let type else { return }
        let (data, check, subject, timeout) = (try MessageData.read(text), check, subject, timeout)
        let answer = try await options.withBus { bus in
            try await check.check(on: bus)?.check(data, of: type)
            let attributes = Attributes(type: type, source: bus.source, subject: subject)
            return try await bus.ask(Envelope(attributes: attributes, data: data), timeout: timeout)
        }
        if answer.type.kind == .error { throw failure(of: type, answer) }
        try await DataPrinter(json: json).show(answer.data)
    }

    /// What a person is told of an answer that is an error. A stranger's may be of another type than the platform's, or of
    /// other data.
    private func failure(of type: MessageType, _ answer: Envelope) -> CommandError {
        guard answer.type == ApplicationError.type, let error = try? answer.decode(ApplicationError.self) else {
            let data = String(decoding: answer.data, as: UTF8.self).shortened()
            return CommandError(
                code: "error-answer",
                "\(type) failed: \(answer.attributes.source) answered with \(answer.type) \(data)".printable)
        }
        return CommandError(
            code: error.code, "\(type) failed: \(error.message)".printable, recovery: error.recovery?.printable)
    }
}

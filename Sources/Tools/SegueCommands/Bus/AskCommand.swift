package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Support

package struct AskCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Send a query to the process that serves it, and print the answer.",
        discussion: """
            segue ask PlaylistSongs '{"playlistID": "p1"}'         prints indented JSON
            segue ask PlaylistSongs '{"playlistID": "p1"}' --json  prints it on one line
            segue ask PlaylistSongs - < question.json              reads the query's data

            The exit status is 1 if the answer is an error, 65 if the query's data is invalid, 69 if no process serves \
            the query, and 75 if no answer arrived in time.
            """)

    @OptionGroup var options: BusOptions

    @Argument(
        help: ArgumentHelp("The query's name, such as PlaylistSongs.", valueName: "query"),
        completion: .messageNames(of: .query))
    var name: String

    @Argument(help: MessageData.help, completion: .messageData)
    var text = "{}"

    @OptionGroup var check: CheckOptions

    @Option(name: .session, help: ArgumentHelp("The session of the query.", valueName: "session"))
    var session = Session.default

    @Option(
        help: ArgumentHelp(
            "The maximum time to wait for the answer, such as 500ms or 1m. (default: 5s)", valueName: "duration"),
        transform: Duration.argument)
    var timeout = Duration.seconds(5)

    @OptionGroup var data: DataOptions

    package init() {}

    package func validate() throws {
        guard type != nil else {
            throw ValidationError("'\(name)' is not the name of a query such as PlaylistSongs")
        }
    }

    /// The query's type. Nil if the name is invalid; then validation fails.
    private var type: MessageType? { MessageSpelling.type(name, of: .query) }

    package func run() async throws {
        guard let type else { return }
        let (data, check, session, timeout) = (try MessageData.read(text), check, session, timeout)
        let answer = try await options.withBus { bus in
            try await check.check(on: bus)?.check(data, of: type)
            let attributes = Attributes(type: type, source: bus.source, subject: session)
            return try await bus.ask(Envelope(attributes: attributes, data: data), timeout: timeout)
        }
        if answer.type.kind == .error { throw failure(of: type, answer) }
        try await self.data.printer.show(answer)
    }

    /// The error for a query whose answer is an error, also an error of another type than `ApplicationError`.
    private func failure(of type: MessageType, _ answer: Envelope) -> CommandError {
        guard answer.type == ApplicationError.type, let error = try? answer.decode(ApplicationError.self) else {
            let data = String(decoding: answer.data, as: UTF8.self).shortened()
            return CommandError(
                code: "error-answer",
                "\(type) failed: \(answer.attributes.source) answered with \(answer.type) \(data)")
        }
        return CommandError(
            code: error.code, "\(type) failed: \(error.message)", recovery: error.recovery)
    }
}

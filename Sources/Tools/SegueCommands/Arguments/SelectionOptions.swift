public import ArgumentParser
public import EventBus
package import Monitor

/// The options that select messages.
struct SelectionOptions: ParsableArguments, Sendable {
    @Option(name: .customLong("kind"), help: "Only messages of this kind; may be repeated.")
    var kinds: [MessageKind] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Only messages of this type, such as 'event.Playlist*'; may be repeated.", valueName: "pattern"),
        transform: MessagePattern.argument)
    var types: [MessagePattern] = []

    @Option(
        name: .customLong("exclude"),
        help: ArgumentHelp(
            "No messages of this type, such as 'document.*' or command.ScreenDisplayed; may be repeated.",
            valueName: "pattern"),
        transform: MessagePattern.argument)
    var excluded: [MessagePattern] = []

    @Option(name: .session, help: ArgumentHelp("Only messages of this session.", valueName: "session"))
    var session: String?

    @Option(
        name: .customLong("source"),
        help: ArgumentHelp(
            "Only messages of this process, such as music-service or 'device/*'; may be repeated.",
            valueName: "pattern"), transform: SourcePattern.argument)
    var sources: [SourcePattern] = []

    @Option(
        name: .customLong("correlation"),
        help: ArgumentHelp(
            "Only messages with this correlation id, the id of the first message of their story.", valueName: "id"))
    var correlationID: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only messages that match, such as 'data.count > 3 and source matches device/*'; may be repeated.",
            valueName: "expression"))
    var expressions: [String] = []

    func validate() throws {
        for (option, text) in [("--session", session), ("--correlation", correlationID)] where text?.isEmpty == true {
            throw ValidationError("the value of \(option) is empty; omit the option to select all messages")
        }
        // A monitor does not receive queries.
        guard !kinds.contains(.query), !types.contains(where: { $0.kind == .query }) else {
            throw ValidationError("a query goes only to the process that answers it; use 'segue ask'")
        }
        _ = try selection
    }

    /// True if an option selects single messages, and not only a session or a story.
    var selectsMessages: Bool {
        !(kinds.isEmpty && types.isEmpty && excluded.isEmpty && sources.isEmpty && expressions.isEmpty)
    }

    /// - Throws: `ValidationError` with the column of a syntax error in `--where`.
    var selection: MessageSelection {
        get throws {
            MessageSelection(
                kinds: kinds, types: types, excluded: excluded, subject: session, sources: sources,
                correlationID: correlationID,
                conditions: try expressions.map { text in
                    try ValidationError.naming("--where") { () throws(SyntaxMistake) in try WhereExpression(text) }
                })
        }
    }
}

extension MessagePattern: FormedArgument {
    static let forms = "a type such as command.PlaylistSelected, or a pattern such as 'event.*'"

    package init?(argument: String) {
        self.init(argument)
    }
}

extension SourcePattern: FormedArgument {
    static let forms = "a process such as music-service, or a pattern such as 'device/*'"

    package init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}

extension MessageKind: ExpressibleByArgument {}

package import ArgumentParser
public import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Support

package struct DeadCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List, show, resend and drop dead letters: messages that consumers have given up.",
        discussion: """
            segue dead list                     lists the dead letters, with reasons
            segue dead show 3                   prints one dead letter in full
            segue dead resend 3                 sends its message to its consumer again
            segue dead drop --all --consumer C  removes all dead letters of one consumer
            """,
        subcommands: [DeadListCommand.self, DeadShowCommand.self, DeadResendCommand.self, DeadDropCommand.self])

    package init() {}
}

struct DeadListCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the dead letters, oldest first.",
        discussion: """
            segue dead list
            segue dead list --consumer music-service --json
            """)

    @OptionGroup var options: BusOptions

    @Option(help: "List only the dead letters of this consumer.")
    var consumer: String?

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (consumer, json) = (consumer, output.json)
        try await options.withBus { bus in
            // Each page is printed before the next one is read: the messages can be large together.
            guard !json else {
                return try await DeadLetter.forEachPage {
                    try await bus.inspect.deadLetters(of: consumer, after: $0, limit: Self.pageCount)
                } _: {
                    try await Console.output.writeLines($0.map(DeadLetterFormat.json))
                }
            }
            try await Console.output.writeList(
                Self.summaries(of: consumer, on: bus), asJSON: false, empty: Self.emptyText)
        }
    }

    static let emptyText = "there are no dead letters"

    /// The dead letters of one consumer, or of all consumers if it is nil.
    static func summaries(of consumer: String?, on bus: EventBus) async throws -> [DeadLetter.Summary] {
        var summaries: [DeadLetter.Summary] = []
        try await DeadLetter.forEachPage {
            try await bus.inspect.deadLetterSummaries(of: consumer, after: $0, limit: pageCount)
        } _: {
            summaries += $0
        }
        return summaries
    }

    /// The maximum number of dead letters that are read at once.
    static let pageCount = 1000
}

struct DeadShowCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a dead letter: the message, and the reason why its consumer gave it up.",
        discussion: """
            segue dead show 3

            The exit status is 1 if there is no such dead letter.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: ArgumentHelp("The dead letter's number, as 'segue dead list' prints it.", valueName: "id"))
    var id: DeadLetter.ID

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let id = id
        let deadLetter = try await options.withBus { try await DeadLetterArguments.deadLetter(id, on: $0) }
        let lines = output.json ? [try DeadLetterFormat.json(deadLetter)] : DeadLetterFormat.details(deadLetter)
        try await Console.output.writeLines(lines)
    }
}

struct DeadResendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Send messages again, each to the consumer that gave it up.",
        discussion: """
            segue dead resend 3 4
            segue dead resend --all --consumer music-service

            Other consumers do not handle the message again. The message gets a new id, and a command's lifetime \
            begins again. For each message, the dead letter's number, the new id and the new position are printed.

            The exit status is 1 if there is no such dead letter.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var deadLetters: DeadLetterArguments

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (deadLetters, json) = (deadLetters, output.json)
        try await options.withBus { bus in
            try await deadLetters.forEach(on: bus) { deadLetter in
                let message = try await deadLetter.resend(on: bus)
                guard let position = message.position else { return }
                try await Console.output.writeLine(
                    SentMessage(message, at: position), asJSON: json,
                    text: "\(deadLetter.id) \(message.id) \(position)")
            }
        }
    }
}

struct DeadDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Remove dead letters.",
        discussion: """
            segue dead drop 3 4
            segue dead drop --all --consumer music-service

            If some of the numbers do not exist, the others are removed, and the error names those.

            The exit status is 1 if one of the numbers does not exist.
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var deadLetters: DeadLetterArguments

    func run() async throws {
        let deadLetters = deadLetters
        let missing = try await options.withBus { bus in
            let ids =
                deadLetters.all ? try await bus.deadLetterIDs(of: deadLetters.consumer) : Set(deadLetters.ids).sorted()
            return try await bus.dropDeadLetters(ids)
        }
        guard !missing.isEmpty else { return }
        let error = CommandError.noDeadLetters(missing)
        guard deadLetters.all else { throw error }
        // Somebody else has removed them meanwhile.
        await Console.error.tell(error.message)
    }
}

/// The arguments that select dead letters.
struct DeadLetterArguments: ParsableArguments, Sendable {
    @Argument(help: ArgumentHelp("The dead letters' numbers, as 'segue dead list' prints them.", valueName: "id"))
    var ids: [DeadLetter.ID] = []

    @Flag(help: "Select all dead letters.")
    var all = false

    @Option(help: "With --all: select only the dead letters of this consumer.")
    var consumer: String?

    func validate() throws {
        guard all == ids.isEmpty else {
            throw ValidationError("either write the numbers of dead letters or use --all")
        }
        guard all || consumer == nil else { throw ValidationError("--consumer requires --all") }
    }

    /// Passes the selected dead letters to `body`, in order.
    /// - Throws: ``CommandError`` `no-letter`, before the first call, if a given number is not the number of a dead
    ///   letter.
    func forEach(on bus: EventBus, _ body: (DeadLetter) async throws -> Void) async throws {
        guard all else {
            let ids = Set(ids).sorted()
            for id in ids {
                guard try await bus.inspect.deadLetterSummary(id) != nil else { throw CommandError.noDeadLetters([id]) }
            }
            for id in ids { try await body(try await Self.deadLetter(id, on: bus)) }
            return
        }
        // A message that is given up again meanwhile has a higher number.
        guard let last = try await bus.deadLetterIDs(of: consumer).last else { return }
        try await DeadLetter.forEachPage { after in
            try await bus.inspect.deadLetters(of: consumer, after: after, limit: DeadListCommand.pageCount)
                .filter { $0.id <= last }
        } _: { deadLetters in
            for deadLetter in deadLetters { try await body(deadLetter) }
        }
    }

    /// - Throws: ``CommandError`` `no-letter` if there is no dead letter with this number.
    static func deadLetter(_ id: DeadLetter.ID, on bus: EventBus) async throws -> DeadLetter {
        guard let deadLetter = try await bus.inspect.deadLetter(id) else { throw CommandError.noDeadLetters([id]) }
        return deadLetter
    }
}

extension CommandError {
    /// - Parameter ids: The numbers of letters that do not exist: at least one. The first of them are named.
    fileprivate static func noDeadLetters(_ ids: [DeadLetter.ID]) -> CommandError {
        let named = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
        let rest = ids.count > 10 ? " and \(ids.count - 10) more" : ""
        return CommandError(
            code: "no-letter", "there \(ids.count == 1 ? "is no dead letter" : "are no dead letters") \(named)\(rest)",
            recovery: "see 'segue dead list'")
    }
}

extension DeadLetter.Summary: ListRow, Encodable {
    static var columns: [Column<Self>] {
        [
            Column(name: "ID") { "\($0.id)" },
            Column(name: "TIME") { WallTime.text(of: $0.time) },
            Column(name: "CONSUMER", cell: \.consumer),
            Column(name: "MESSAGE", cell: \.message.type.description),
            Column(name: "ATTEMPTS") { "\($0.rejection.attempts)" },
            Column(name: "REASON", cell: \.rejection.reason),
        ]
    }

    private enum CodingKeys: CodingKey {
        case id, consumer, code, reason, attempts, time
    }

    /// Encodes the dead letter without its message.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(consumer, forKey: .consumer)
        try container.encode(rejection.code, forKey: .code)
        try container.encode(rejection.reason, forKey: .reason)
        try container.encode(rejection.attempts, forKey: .attempts)
        try container.encode(time, forKey: .time)
    }
}

/// Formats dead letters for people and for programs.
enum DeadLetterFormat {
    /// The lines of `segue dead show`: the reason, the message's attributes, and its data.
    static func details(_ deadLetter: DeadLetter) -> [String] {
        let attempts = deadLetter.rejection.attempts == 1 ? "1 attempt" : "\(deadLetter.rejection.attempts) attempts"
        let message = PrettyFormat()
        let attributes = deadLetter.message.attributes
        let published = "    published: \(WallTime.text(of: attributes.time)) by \(attributes.source.printable)"
        return [
            "\(deadLetter.message.type) was given up by \(deadLetter.consumer.printable) after \(attempts)",
            "    code: \(deadLetter.rejection.code.printable)",
            "    reason: \(deadLetter.rejection.reason.printable)",
            "    given up: \(WallTime.text(of: deadLetter.time))",
        ] + (deadLetter.message.unreadableHeader == nil ? [published] : [])
            + message.details(deadLetter.message).map { $0.rendered(isColored: false, columns: nil).description }
            + [DataPrinter(json: false).text(deadLetter.message.data)]
    }

    /// The dead letter as a JSON object on one line. Its member `message` is the message as `segue monitor --json`
    /// prints it.
    static func json(_ deadLetter: DeadLetter) throws -> String {
        let message = try JSONText(parsing: Data(CloudEventFormat.line(deadLetter.message).utf8))
        return try JSONText(encoding: deadLetter.summary).adding("message", message).description
    }
}

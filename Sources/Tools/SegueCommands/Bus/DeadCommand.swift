package import ArgumentParser
internal import EventBus
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

    @Flag(help: "Print one JSON object per line, with the message.")
    var json = false

    func run() async throws {
        let consumer = consumer
        let letters = try await options.withBus { try await $0.deadLetters(of: consumer) }
        guard !json else {
            return try await Console.output.writeLines(letters.map(DeadLetterFormat.json))
        }
        if letters.isEmpty { return await Console.error.tell("there are no dead letters") }
        try await Console.output.writeLines(DeadLetterFormat.table(letters).lines)
    }
}

struct DeadShowCommand: AsyncParsableCommand, WallTimeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a dead letter: the message, and the reason why its consumer gave it up.",
        discussion: "segue dead show 3")

    @OptionGroup var options: BusOptions

    @Argument(help: ArgumentHelp("The dead letter's number, as 'segue dead list' prints it.", valueName: "id"))
    var id: DeadLetter.ID

    @OptionGroup var zone: ZoneOptions

    @Flag(help: "Print a JSON object on one line.")
    var json = false

    func run() async throws {
        let id = id
        let letters = try await options.withBus { try await LetterArguments.letters([id], on: $0) }
        for letter in letters {
            let lines = json ? [try DeadLetterFormat.json(letter)] : DeadLetterFormat.details(letter)
            try await Console.output.writeLines(lines)
        }
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
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var letters: LetterArguments

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run() async throws {
        let (letters, json) = (letters, json)
        try await options.withBus { bus in
            for letter in try await letters.letters(on: bus) {
                let message = try await letter.resend(on: bus)
                guard let position = message.position else { continue }
                let sent = SentMessage(message, at: position)
                try await Console.output.writeLine(
                    json ? JSONValue(encoding: sent).description : "\(letter.id) \(message.id) \(position)")
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
            """)

    @OptionGroup var options: BusOptions
    @OptionGroup var letters: LetterArguments

    func run() async throws {
        let letters = letters
        try await options.withBus { bus in
            for letter in try await letters.letters(on: bus) {
                try await letter.drop(on: bus)
            }
        }
    }
}

/// The arguments that select dead letters.
struct LetterArguments: ParsableArguments, Sendable {
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

    /// - Throws: ``CommandError`` `no-letter` if a given number is not the number of a dead letter.
    func letters(on bus: any EventBus) async throws -> [DeadLetter] {
        all ? try await bus.deadLetters(of: consumer) : try await Self.letters(ids, on: bus)
    }

    /// - Throws: ``CommandError`` `no-letter` if a given number is not the number of a dead letter.
    static func letters(_ ids: [DeadLetter.ID], on bus: any EventBus) async throws -> [DeadLetter] {
        let found = try await bus.deadLetters(of: nil).filter { ids.contains($0.id) }
        if let missing = ids.first(where: { id in !found.contains { $0.id == id } }) {
            throw CommandError(
                code: "no-letter", "there is no dead letter \(missing)", recovery: "see 'segue dead list'")
        }
        return found
    }
}

/// Formats dead letters for people and for programs.
enum DeadLetterFormat {
    private struct Summary: Encodable {
        let id: DeadLetter.ID
        let consumer: String
        let code: String
        let reason: String
        let attempts: Int
        let time: String
    }

    static func table(_ letters: [DeadLetter]) -> Table {
        var table = Table("ID", "TIME", "CONSUMER", "MESSAGE", "ATTEMPTS", "REASON")
        for letter in letters {
            table.append(
                "\(letter.id)", WallTime.text(of: letter.time), letter.consumer,
                "\(letter.message.type)", "\(letter.rejection.attempts)", letter.rejection.reason)
        }
        return table
    }

    /// The lines of `segue dead show`: the reason, the message's attributes, and its data.
    static func details(_ letter: DeadLetter) -> [String] {
        let attempts = letter.rejection.attempts == 1 ? "1 attempt" : "\(letter.rejection.attempts) attempts"
        let message = PrettyFormat()
        let attributes = letter.message.attributes
        let published = "    published: \(WallTime.text(of: attributes.time)) by \(attributes.source.printable)"
        return [
            "\(letter.message.type) was given up by \(letter.consumer.printable) after \(attempts)",
            "    code: \(letter.rejection.code.printable)",
            "    reason: \(letter.rejection.reason.printable)",
            "    given up: \(WallTime.text(of: letter.time))",
        ] + (letter.message.unreadableHeader == nil ? [published] : [])
            + message.details(letter.message).map { $0.rendered(isColored: false, columns: nil).description }
            + [DataPrinter(json: false).text(letter.message.data)]
    }

    /// The dead letter as a JSON object on one line. Its member `message` is the message as `segue monitor --json`
    /// prints it.
    static func json(_ letter: DeadLetter) throws -> String {
        let summary = try JSONValue(
            encoding: Summary(
                id: letter.id, consumer: letter.consumer, code: letter.rejection.code, reason: letter.rejection.reason,
                attempts: letter.rejection.attempts, time: Timestamp.text(of: letter.time))
        ).description
        return "\(summary.dropLast()),\"message\":\(try CloudEventFormat.line(letter.message))}"
    }
}

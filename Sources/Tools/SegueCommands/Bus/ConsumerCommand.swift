package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct ConsumerCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "consumer", abstract: "List durable consumers, and remove consumers that no process runs.",
        discussion: """
            segue consumer list           lists the consumers, with their lag and processes
            segue consumer forget waiter  removes a consumer that no process runs
            """,
        subcommands: [ConsumerListCommand.self, ConsumerForgetCommand.self])

    package init() {}
}

struct ConsumerListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the durable consumers, in alphabetical order.",
        discussion: """
            segue consumer list
            segue consumer list --json

            The lag is the number of messages after the position of a consumer. It counts messages of all types, also \
            types that the consumer does not receive, up to 10,000, and is then printed as 10000+.
            """)

    @OptionGroup var options: BusOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let consumers = try await options.withBus { try await ConsumerStatus.all(on: $0) }
        try await Console.output.writeList(
            consumers, asJSON: output.json, empty: "there are no durable consumers")
    }
}

extension ConsumerStatus: ListRow {
    static var columns: [Column<ConsumerStatus>] {
        [
            Column(name: "CONSUMER", cell: \.consumer.name),
            Column(name: "POSITION") { "\($0.consumer.position.offset)" },
            Column(name: "LAG") { FigureText.of(lag: $0.lag) },
            Column(name: "RUN BY", cell: \.runners),
        ]
    }

    private var runners: String {
        let names = services.map { "\($0.name)/\($0.instance)" }.joined(separator: ", ")
        guard names.isEmpty else { return names }
        return switch consumer.memberCount {
        case 0: "no process"
        case 1: "1 process without a presence"
        case let count: "\(count) processes without a presence"
        }
    }
}

struct ConsumerForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove a durable consumer that no process runs.",
        discussion: """
            segue consumer forget waiter

            The bus forgets which messages the consumer has handled. If a process uses this name later, it starts at \
            the beginning of the journal. Retention no longer keeps messages for the consumer. The consumer's dead \
            letters stay; see 'segue dead'.

            The exit status is 1 if there is no such consumer, or a process runs it.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: "The consumer's name, as 'segue consumer list' prints it.")
    var name: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let name = name
        let removed = try await options.withBus { bus in
            let consumers = try await ConsumerStatus.all(on: bus)
            guard let found = consumers.first(where: { $0.consumer.name == name }) else {
                throw Self.missing(name, among: consumers.map(\.consumer.name))
            }
            if let service = found.services.first {
                throw CommandError(
                    code: "consumer-in-use",
                    "\(service.name) (instance \(service.instance), pid \(service.pid)) runs the consumer '\(name)'",
                    recovery: "stop this process first")
            }
            do {
                try await bus.inspect.forget(consumer: name)
            } catch let error as BusError where error.code == .refused {
                // A process that has published no presence may run the consumer.
                throw CommandError(code: "consumer-in-use", error.message)
            }
            return found
        }
        try await Console.output.writeLine(
            removed, asJSON: output.json,
            text:
                "removed \(name.printable); it had handled the journal up to offset \(removed.consumer.position.offset) of "
                + "\(removed.consumer.end.offset)")
    }

    private static func missing(_ name: String, among names: [String]) -> CommandError {
        let recovery = Spelling.suggestion(for: name, among: names) ?? "see 'segue consumer list'"
        return CommandError(
            code: "no-consumer", "there is no durable consumer '\(name)'", recovery: recovery)
    }
}

/// A durable consumer, and the presences of the processes that run it.
struct ConsumerStatus: Hashable, Sendable {
    let consumer: DurableConsumer
    /// The number of messages of all types after the consumer's position, at most ``Limits/lag``.
    let lag: UInt64
    let services: [Document.Presence]

    /// True if a process runs the consumer. A process that has published no presence is only in `memberCount`.
    var isRun: Bool { !services.isEmpty || consumer.memberCount > 0 }

    static func all(
        _ consumers: [DurableConsumer], _ presences: [Document.Presence], on bus: EventBus
    ) async throws -> [ConsumerStatus] {
        var all: [ConsumerStatus] = []
        for consumer in consumers {
            all.append(
                ConsumerStatus(
                    consumer: consumer, lag: try await bus.inspect.lag(after: consumer.position, matching: [.all]),
                    services: presences.filter { $0.runs(consumer: consumer.name) }
                        .sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }))
        }
        return all
    }

    static func all(on bus: EventBus) async throws -> [ConsumerStatus] {
        // The consumers are read before the presences: a process may start in between.
        let consumers = try await bus.inspect.consumers()
        let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
        return try await all(consumers, documents.compactMap { try? $0.decode(Document.Presence.self) }, on: bus)
    }
}

extension ConsumerStatus: Encodable {
    private enum CodingKeys: CodingKey {
        case consumer, position, lag, members, services
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(consumer.name, forKey: .consumer)
        try container.encode(SentMessage.JournalPosition(consumer.position), forKey: .position)
        try container.encode(lag, forKey: .lag)
        try container.encode(consumer.memberCount, forKey: .members)
        try container.encode(services.map { "\($0.name)/\($0.instance)" }, forKey: .services)
    }
}

/// The metrics of a process or a consumer as text.
enum FigureText {
    /// The number, or a dash if it is not known.
    static func of(_ number: Int?) -> String { number.map { "\($0)" } ?? "–" }

    /// The number, with a plus sign if a bus has stopped counting there, or a dash if it is not known.
    static func of(lag: UInt64?) -> String { lag.map { $0 < Limits.lag ? "\($0)" : "\($0)+" } ?? "–" }
}

package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct ServicesCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "services",
        abstract: "List the processes on the bus, with the messages that each receives and sends, and its lag.",
        discussion: """
            segue services
            segue services --json | jq .lag

            'handled' and 'failed' count the messages that the durable consumers of a process have handled and given \
            up since the process started. 'lag' is the number of messages for the slowest of these consumers after its \
            position. It is counted up to 10,000, and then printed as 10000+. A process that does not report these \
            numbers within a second has a dash instead. 'segue dead' lists the messages that were given up.

            A durable consumer that no process runs is listed, too. The lag of this consumer counts all messages up to \
            the end of the journal. 'segue consumer forget' removes the consumer.
            """)

    @OptionGroup var options: BusOptions

    @OptionGroup var output: OutputOptions

    package init() {}

    package func run() async throws {
        let (abandoned, services, names) = try await options.withBus { bus in
            // The consumers are read before the presences: a process may start in between.
            let consumers = try await Self.consumers(on: bus)
            let documents = try await bus.documents(matching: [.type(Document.Presence.self)])
            let services = await presences(documents)
            let abandoned = try await ConsumerStatus.all(consumers, services, on: bus).filter { !$0.isRun }
            let metrics = try await MetricsRequests.ask(Set(services.map(\.instance)), on: bus)
            let listed = services.sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
                .map { ListedProcess(presence: $0, metrics: metrics[$0.instance]) }
            return (abandoned, listed, try await CoordinatorNames(on: bus))
        }
        if output.json {
            let rows: [any Encodable] = services + abandoned
            try await Console.output.writeLines(rows.map { try JSONValue(encoding: $0).description })
        } else {
            try await Console.output.draw((services.map { text($0, names) } + abandoned.map(text)).joined())
        }
        if services.isEmpty { await Console.error.tell("no process has announced itself on this bus") }
    }

    /// The durable consumers; empty if the broker refuses to list them.
    private static func consumers(on bus: EventBus) async throws -> [DurableConsumer] {
        do {
            return try await bus.inspect.consumers()
        } catch let error as BusError where error.code == .refused {
            await Console.error.tell("the broker does not list its durable consumers: \(error.message)")
            return []
        }
    }

    /// The presences that can be read. A presence that cannot be read is reported on standard error.
    private func presences(_ documents: [Envelope]) async -> [Document.Presence] {
        var presences: [Document.Presence] = []
        for document in documents {
            do {
                presences.append(try document.decode())
            } catch {
                await Console.error.tell("\(error) (published by \(document.attributes.source))")
            }
        }
        return presences
    }

    private func text(_ status: ConsumerStatus) -> TerminalText {
        """
        \(style(.bold, status.consumer.name)) \(style(.dim, "(durable consumer, run by no process)"))
          lag      \(FigureText.of(lag: status.lag))

        """
    }

    private func style(_ style: TextStyle, _ text: String) -> TerminalText {
        Console.output.isColored ? style.applied(to: text) : "\(text)"
    }

    private func text(_ process: ListedProcess, _ names: CoordinatorNames) -> TerminalText {
        let (service, metrics) = (process.presence, process.metrics)
        let types = { (types: [String]) in types.isEmpty ? "nothing" : types.sorted().joined(separator: ", ") }
        return """
            \(style(.bold, names.name(of: service.name, instance: service.instance))) \(service.version) \
            \(style(.dim, "(instance \(service.instance), pid \(service.pid))"))
              receives \(types(service.receives))
              sends    \(types(service.sends))
              handled  \(FigureText.of(metrics?.handled)), failed \(FigureText.of(metrics?.failed)), \
            lag \(FigureText.of(lag: metrics?.lag))

            """
    }
}

/// A process on the bus. Its JSON has the keys of the presence and of the metrics.
private struct ListedProcess: Encodable {
    let presence: Document.Presence
    /// Nil if the process has not reported them in time. Their values are then null.
    let metrics: DomainEvent.MetricsReported?

    private enum CodingKeys: CodingKey {
        case handled, failed, lag
    }

    func encode(to encoder: any Encoder) throws {
        try presence.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(metrics?.handled, forKey: .handled)
        try container.encode(metrics?.failed, forKey: .failed)
        try container.encode(metrics?.lag, forKey: .lag)
    }
}

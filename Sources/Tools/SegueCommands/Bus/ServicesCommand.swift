package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct ServicesCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "services",
        abstract: "Tells who is on the bus, what each receives and sends, and how far each has come.",
        discussion: """
            Of the messages for its durable consumers, a process has handled some and given some up since its start; see \
            'segue dead'. Its lag is how many offsets it is behind the newest of them.

            A durable consumer that no process runs keeps messages from being removed by age: it is listed with its lag, \
            which counts all messages up to the journal's end. 'segue consumer forget' removes it.
            """)

    @OptionGroup var options: BusOptions

    @Flag(help: "One JSON object a line.")
    var json = false

    package init() {}

    package func run() async throws {
        let (consumers, documents) = try await options.withBus { bus in
            // In this order: see `ConsumerStatus`.
            let consumers = try await Self.consumers(on: bus)
            return (consumers, try await bus.documents(matching: [.type(Document.Presence.self)]))
        }
        let services = await presences(documents)
        for service in services.sorted(by: { ($0.name, $0.instance) < ($1.name, $1.instance) }) {
            try await Console.output.writeLine(json ? JSONValue(encoding: service).description : text(service))
        }
        for status in ConsumerStatus.all(consumers, services) where !status.isRun {
            try await Console.output.writeLine(json ? JSONValue(encoding: status).description : text(status))
        }
        if services.isEmpty { await Console.error.tell("nobody has announced itself on this bus") }
    }

    /// A broker of an earlier version does not list them: the services are shown all the same.
    private static func consumers(on bus: any EventBus) async throws -> [DurableConsumer] {
        do {
            return try await bus.consumers()
        } catch let error as BusError where error.code == .refused {
            await Console.error.tell("the broker does not list its durable consumers: \(error.message)".printable)
            return []
        }
    }

    /// One that cannot be read is a stranger's mistake: the others are shown all the same.
    private func presences(_ documents: [Envelope]) async -> [Document.Presence] {
        var presences: [Document.Presence] = []
        for document in documents {
            do {
                presences.append(try document.decode())
            } catch {
                await Console.error.tell("\(error) (published by \(document.attributes.source))".printable)
            }
        }
        return presences
    }

    private func text(_ status: ConsumerStatus) -> String {
        """
        \(style(.bold, status.consumer.name.printable)) \(style(.dim, "(durable consumer, run by no process)"))
          lag      \(status.consumer.lag)
        """
    }

    private func style(_ style: TextStyle, _ text: String) -> String {
        Console.output.isColored ? style.applied(to: text) : text
    }

    private func text(_ service: Document.Presence) -> String {
        let types = { (types: [String]) in types.isEmpty ? "nothing" : types.sorted().joined(separator: ", ").printable
        }
        return """
            \(style(.bold, service.name.printable)) \(service.version.printable) \
            \(style(.dim, "(instance \(service.instance.printable), pid \(service.pid))"))
              receives \(types(service.receives))
              sends    \(types(service.sends))
              handled  \(service.handled), failed \(service.failed), lag \(service.lag)
            """
    }
}

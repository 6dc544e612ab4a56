package import ArgumentParser
internal import Compose
internal import Contracts
internal import EventBus
internal import Monitor

package struct ConsumerForgetCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Removes a durable consumer that no process runs.",
        discussion: """
            Its progress is lost: a process that consumes under its name later begins at the journal's beginning. It no \
            longer keeps messages from being removed by age. Its dead letters stay; see 'segue dead'.
            """)

    @OptionGroup var options: BusOptions

    @Argument(help: "The name of the consumer, as 'segue consumer list' shows it.")
    var name: String

    @Flag(help: "What was removed, as a JSON object.")
    var json = false

    package init() {}

    package func run() async throws {
        let name = name
        let removed = try await options.withBus { bus in
            let consumers = try await ConsumerStatus.all(on: bus)
            guard let found = consumers.first(where: { $0.consumer.name == name }) else {
                throw Self.missing(name, among: consumers.map(\.consumer.name))
            }
            if let service = found.services.first {
                throw CommandError(
                    code: "consumer-in-use",
                    "\(service.name) (instance \(service.instance), pid \(service.pid)) runs the consumer '\(name)'"
                        .printable, recovery: "stop it first")
            }
            try await bus.forget(consumer: name)
            return found
        }
        guard !json else { return try await Console.output.writeLine(try JSONLine.text(removed)) }
        try await Console.output.writeLine(
            "\(name.printable) is removed; it had handled the journal up to offset \(removed.consumer.position.offset) of "
                + "\(removed.consumer.end.offset)")
    }

    private static func missing(_ name: String, among names: [String]) -> CommandError {
        let recovery = name.nearest(of: names).map { "did you mean '\($0)'?" } ?? "see 'segue consumer list'"
        return CommandError(
            code: "no-consumer", "there is no durable consumer '\(name)'".printable, recovery: recovery.printable)
    }
}

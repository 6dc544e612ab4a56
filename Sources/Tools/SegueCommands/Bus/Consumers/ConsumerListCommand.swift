package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor

package struct ConsumerListCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the durable consumers, in alphabetical order.",
        discussion: """
            The lag is the number of offsets between what a consumer has handled and the end of the journal, whatever the \
            types of the messages there.
            """)

    @OptionGroup var options: BusOptions

    @Flag(help: "One JSON object a line.")
    var json = false

    package init() {}

    package func run() async throws {
        let consumers = try await options.withBus { try await ConsumerStatus.all(on: $0) }
        guard !json else {
            for consumer in consumers { try await Console.output.writeLine(try JSONLine.text(consumer)) }
            return
        }
        if consumers.isEmpty { return await Console.error.tell("there are no durable consumers") }
        var table = Table("CONSUMER", "POSITION", "LAG", "RUN BY")
        for status in consumers {
            table.append(
                status.consumer.name.printable, "\(status.consumer.position.offset)", "\(status.consumer.lag)",
                status.runners)
        }
        for line in table.lines { try await Console.output.writeLine(line) }
    }
}

extension ConsumerStatus {
    fileprivate var runners: String {
        let names = services.map { "\($0.name)/\($0.instance)".printable }.joined(separator: ", ")
        guard names.isEmpty else { return names }
        return switch consumer.memberCount {
        case 0: "no process"
        case 1: "1 process without a presence"
        case let count: "\(count) processes without a presence"
        }
    }
}

internal import AppContract
package import ArgumentParser
internal import Contracts
internal import EventBus
internal import Monitor
internal import Navigation
internal import Support

package struct DescribeCommand: AsyncParsableCommand, WallTimeCommand {
    package static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Describe a message type: its fields, senders, receivers and last message.",
        discussion: """
            segue describe command.PlaylistSelected
            segue describe event.LaunchFinished --json

            The exit status is 1 if no process knows the type, and the journal has no message of it.
            """)

    @OptionGroup var options: BusOptions

    @Argument(
        help: ArgumentHelp("The message's type, such as command.PlaylistSelected.", valueName: "type"),
        completion: .messageTypes)
    var name: String

    @OptionGroup var zone: ZoneOptions

    @OptionGroup var output: OutputOptions

    package init() {}

    package func validate() throws {
        guard MessageType(name) != nil else { _ = try MessageSpelling.type(name); return }
    }

    package func run() async throws {
        guard let type = MessageType(name) else { return }
        let description = try await options.withBus { bus in
            let known = try await KnownMessages.reported(on: bus)
            return TypeDescription(type, known, last: try await Self.last(type, on: bus))
        }
        guard description.isKnown else {
            throw CommandError(
                code: "unknown-type", "no process on this bus knows \(type), and its journal has none",
                recovery: description.recovery ?? "see 'segue services'")
        }
        try await Console.output.writeLine(output.json ? description.json.description : description.text)
    }

    /// The newest message of the type that is still in the journal. Nil for a query, or if there is no such message.
    private static func last(_ type: MessageType, on bus: EventBus) async throws -> Envelope? {
        guard type.kind != .query else { return nil }
        let newest = try await bus.inspect.newest(matching: [.type(type)])
        guard newest.offset > 0 else { return nil }
        let start = StartPosition.after(Position(epoch: newest.epoch, offset: newest.offset - 1))
        return try await bus.withSubscription(to: [.type(type)], from: start, until: newest, onNotice: nil) {
            messages in
            for try await message in messages { return message }
            return nil
        }
    }
}

/// The properties of a message type, as the processes on a bus and its journal describe them.
private struct TypeDescription: Encodable {
    let type: MessageType
    /// The schema of the data. Nil if no contract describes it.
    let data: JSONSchema?
    /// The schema of the answer to a query.
    let answer: JSONSchema?
    let senders: [String]
    let receivers: [String]
    let last: Last?
    /// The suggestion of a known type with a similar name. Nil if there is none.
    let recovery: String?

    struct Last: Encodable {
        let id: String
        let time: String
        let source: String
        /// Nil if the data is not JSON.
        let data: JSONText?
        let line: String

        private enum CodingKeys: CodingKey { case id, time, source }

        /// The JSON object, with the data as it was published.
        var json: JSONText {
            get throws {
                let attributes = try JSONText(encoding: self)
                return data.map { attributes.adding("data", $0) } ?? attributes
            }
        }
    }

    private enum CodingKeys: CodingKey { case type, data, answer, senders, receivers }

    /// The JSON object.
    var json: JSONText {
        get throws {
            let summary = try JSONText(encoding: self)
            return try last.map { summary.adding("last", try $0.json) } ?? summary
        }
    }

    init(_ type: MessageType, _ known: KnownMessages, last: Envelope?) {
        self.type = type
        data = known.contract.messages[type]?.data
        answer = known.contract.messages[type]?.answer
        senders = known.senders(of: type)
        receivers = known.receivers(of: type)
        self.last = last.map { message in
            Last(
                id: message.id, time: Timestamp.text(of: message.attributes.time), source: message.attributes.source,
                data: JSONText(message.data),
                line: PrettyFormat().line(message, known.names).rendered(isColored: false, columns: nil).description)
        }
        recovery = Spelling.nearest(to: type.description, in: known.types).map { "did you mean \($0)?" }
    }

    var isKnown: Bool { data != nil || answer != nil || !senders.isEmpty || !receivers.isEmpty || last != nil }

    var text: String {
        var lines = ["\(type)"]
        lines += Self.lines("fields", of: data)
        if type.kind == .query { lines += Self.lines("answer", of: answer) }
        lines.append("sent by      \(Self.list(senders))")
        lines.append("received by  \(Self.list(receivers))")
        if type.kind != .query { lines.append("last         \(last?.line ?? "none in the journal")") }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ name: String, of schema: JSONSchema?) -> [String] {
        let name = name.padding(to: 13)
        guard let schema else { return ["\(name)described by no contract"] }
        guard case .object(let members) = schema else { return ["\(name)\(schema)"] }
        if members.isEmpty { return ["\(name)none"] }
        return members.sorted { $0.key < $1.key }.enumerated().map { index, member in
            let optional = member.value.isRequired ? "" : ", optional"
            return "\(index == 0 ? name : "".padding(to: 13))\(member.key.printable): \(member.value.schema)\(optional)"
                .printable
        }
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "no process" : names.map(\.printable).joined(separator: ", ")
    }
}

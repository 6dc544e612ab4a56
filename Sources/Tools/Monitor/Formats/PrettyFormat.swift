package import EventBus
internal import Foundation
package import Support

/// Writes a message for people on one line: time, type, source → data.
package struct PrettyFormat: Sendable {
    private let zone: LocalZone

    /// - Parameter zone: The time zone of the times shown.
    package init(zone: LocalZone = .current) {
        self.zone = zone
    }

    /// - Parameter names: The names of coordinators, which are written instead of their sources.
    package func line(_ message: Envelope, _ names: CoordinatorNames = CoordinatorNames()) -> StyledText {
        let attributes = message.attributes
        var line = StyledText()
        line.append(Timestamp.clock(of: attributes.time, in: zone), .dim)
        line.append(" ")
        line.append(message.type, .bold, key: attributes.key)
        if message.subject != Session.default { line.append(" @\(message.subject)", .yellow) }
        line.append(" \(names.name(of: attributes.source)) → ", .dim)
        line.append(data(of: message))
        return line
    }

    /// Further attributes of the message, such as its id and its cause, each on its own line.
    package func details(_ message: Envelope, _ names: CoordinatorNames = CoordinatorNames()) -> [StyledText] {
        let attributes = message.attributes
        let header = message.unreadableHeader.map { String(decoding: $0.bytes, as: UTF8.self) }
        let cause = attributes.causationID.map { "\($0), in the story of \(attributes.correlationID)" }
        let origin = [attributes.platform, attributes.device, attributes.instance].compactMap(\.self)
        return [
            ("id", header == nil ? attributes.id : nil), ("header", header),
            ("position", message.position?.description),
            ("source", names.knows(attributes.source) ? attributes.source : nil), ("caused by", cause),
            ("from view", origin.isEmpty ? nil : origin.joined(separator: " ")), ("trace", attributes.traceparent),
            ("expires", attributes.expiryTime.map(Timestamp.text(of:))),
        ].compactMap { name, value in
            guard let value else { return nil }
            var line = StyledText()
            line.append("    \(name): ", .dim)
            line.append(value)
            return line
        }
    }

    private func data(of message: Envelope) -> String {
        if message.isTombstone { return "withdrawn" }
        if let json = JSONText(message.data) { return json.description }
        return
            "\(message.data.count) bytes that are not JSON: \(String(decoding: message.data, as: UTF8.self))"
    }
}

extension StyledText {
    /// Appends a message's type in the colour of its kind, and a document's key.
    mutating func append(_ type: MessageType, _ style: TextStyle?, key: String?) {
        append(type.kind.rawValue, type.kind.style)
        append(".")
        append(type.name, style)
        if let key { append("[\(key)]") }
    }
}

extension MessageKind {
    fileprivate var style: TextStyle {
        switch self {
        case .command: .cyan
        case .event: .green
        case .error: .red
        case .document: .blue
        case .query: .magenta
        }
    }
}

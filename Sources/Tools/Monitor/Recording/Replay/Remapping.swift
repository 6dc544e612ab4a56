internal import EventBus

/// What a replay changes: `subject:default=test,platform:ios=tv`.
package struct Remapping: Hashable, Sendable {
    package enum Field: String, CaseIterable, Sendable {
        case subject, platform, device, type
    }

    /// A value that takes the place of another.
    package struct Change: Hashable, Sendable {
        package let field: Field
        let former: String
        let latter: String

        /// Reads `FIELD:FORMER=LATTER`.
        /// - Returns: nil unless it is one, and for types that are none.
        package init?(_ text: Substring) {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            let values = parts.last?.split(separator: "=", maxSplits: 1).map { String($0) } ?? []
            guard parts.count == 2, values.count == 2, let field = Field(rawValue: parts[0]) else { return nil }
            if field == .type, values.contains(where: { MessageType($0) == nil }) { return nil }
            (self.field, former, latter) = (field, values[0], values[1])
        }
    }

    package var changes: [Change]

    package init(_ changes: [Change] = []) {
        self.changes = changes
    }

    /// Whether the processes that hear the messages then say what the recorded ones did, under the same ids.
    var keepsResults: Bool { !changes.contains { $0.field == .platform || $0.field == .type } }

    func apply(to message: inout Envelope) {
        message.attributes.subject = mapped(message.subject, .subject)
        message.attributes.platform = message.attributes.platform.map { mapped($0, .platform) }
        message.attributes.device = message.attributes.device.map { mapped($0, .device) }
        message.attributes.type = MessageType(mapped(message.type.description, .type)) ?? message.type
    }

    private func mapped(_ value: String, _ field: Field) -> String {
        changes.first { $0.field == field && $0.former == value }?.latter ?? value
    }
}

package import EventBus
package import Navigation

/// A message as paths see it. Its data is parsed once, and only if a path leads there.
package final class MessageValues {
    package let message: Envelope
    private lazy var data = (try? JSONValue(parsing: message.data)) ?? .null

    package init(_ message: Envelope) {
        self.message = message
    }

    /// `null` where there is nothing, and for data that is not JSON.
    package subscript(path: MessagePath) -> JSONValue {
        let value = path.member == .data ? data : path.member.value(of: message)
        return path.steps.isEmpty ? value : value.value(at: path.steps) ?? .null
    }

    /// A text as it is, anything else as JSON; empty where there is nothing.
    package func text(at path: MessagePath) -> String {
        let value = self[path]
        return value.isNull ? "" : value.stringValue ?? value.description
    }
}

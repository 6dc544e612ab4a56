internal import Synchronization

/// The types of messages that this process uses. To ask the runtime for a struct's name takes as long as to read its JSON.
final class MessageTypeCache: Sendable {
    static let shared = MessageTypeCache()

    private let types = Mutex<[ObjectIdentifier: MessageType]>([:])

    func type<M: Message>(of message: M.Type) -> MessageType {
        types.withLock { types in
            let id = ObjectIdentifier(message)
            if let known = types[id] { return known }
            let type = MessageType(kind: M.kind, name: M.name)
            types[id] = type
            return type
        }
    }
}

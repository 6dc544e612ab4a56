internal import Synchronization

/// A typed message: the `data` of a CloudEvent whose `type` is known at compile time.
///
/// A new message is one struct; its name on the wire is the name of the struct.
public protocol Message: Codable, Sendable {
    static var kind: MessageKind { get }
    /// The name after the kind; the struct's own name unless said.
    static var name: String { get }
    /// Which of several documents of one type and subject this is; nil where there is only one.
    var key: String? { get }
}

extension Message {
    public static var name: String { String(describing: Self.self) }
    public static var type: MessageType { MessageTypeCache.shared.type(of: Self.self) }
    public var key: String? { nil }
}

/// One intent, usually of a person in front of a view.
public protocol CommandMessage: Message {}

/// Something that happened.
public protocol EventMessage: Message {}

/// Something that failed.
public protocol ErrorMessage: Message {}

/// What is true now, retained by the bus per (type, subject, key).
public protocol DocumentMessage: Message {}

/// A question that one process answers directly. It is never journalled.
public protocol QueryMessage: Message {
    /// What an answer carries.
    associatedtype Answer: Codable & Sendable
}

extension CommandMessage {
    public static var kind: MessageKind { .command }
}

extension EventMessage {
    public static var kind: MessageKind { .event }
}

extension ErrorMessage {
    public static var kind: MessageKind { .error }
}

extension DocumentMessage {
    public static var kind: MessageKind { .document }
}

extension QueryMessage {
    public static var kind: MessageKind { .query }
}

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

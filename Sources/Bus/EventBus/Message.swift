internal import Synchronization

/// A result of a message handler: a message to publish, or an instruction that the bus performs in the same batch, such
/// as the withdrawal of a document.
public protocol HandlerResult: Sendable {}

/// A typed message: the `data` of a CloudEvent whose `type` is known at compile time.
public protocol Message: HandlerResult, Codable {
    static var kind: MessageKind { get }
    /// The name after the kind in the message type. The name of the struct by default.
    static var name: String { get }
    /// Distinguishes documents of the same type and subject. Nil by default: a type without keys has one document for
    /// each subject.
    var key: String? { get }
    /// A template for the line with which tools show a message of this type to people, such as `"${minutes} min"`.
    ///
    /// `${minutes}` is replaced by the string, the number or the boolean in this field of the data, and
    /// `${order.minutes}` by the one in a field of an object. The line begins with the name of the message:
    /// `Brew 1 min`. It lists fields of the data instead if a field of the template is missing, or if the template has
    /// more than 200 characters. Nil by default: the line always lists fields.
    static var line: String? { get }
}

extension Message {
    public static var name: String { String(describing: Self.self) }
    public static var type: MessageType { MessageTypeCache.shared.type(of: Self.self) }
    public var key: String? { nil }
    public static var line: String? { nil }
}

/// A request to do something, usually from a person who uses a view.
public protocol CommandMessage: Message {}

/// A message that is published: an event, an error or a document.
public protocol PublishableMessage: Message {}

/// Something that happened.
public protocol EventMessage: PublishableMessage {}

/// Something that failed.
public protocol ErrorMessage: PublishableMessage {}

/// A current state. The bus retains the last document of each type, subject and key.
public protocol DocumentMessage: PublishableMessage {}

/// A question that one process answers directly. It is never recorded in the journal.
public protocol QueryMessage: Message {
    /// The data of an answer.
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

/// A cache of the message types that this process uses.
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

internal import BusFormat
internal import EventBus
internal import NATS

/// A message between the process that asks and the process that answers. The kind and the names are headers, so that
/// the body of a query is only its message.
enum QueryPacket: Hashable, Sendable {
    /// A query. Its reply is a ``QueryReply``.
    case ask(QueryID, PublishedMessage)
    /// The asker no longer waits.
    case cancel(QueryID)
    /// Asks a process if it still works on a query, or still waits for its answer. The reply is a ``QueryReply``:
    /// `alive` or `unknown`.
    case ping(QueryID)
    /// A process serves queries of a type: the answer to `q.who.TYPE`.
    case serving(MessageType, instance: String)

    private enum Header {
        static let kind = "Segue-Query"
        static let asker = "Segue-Asker"
        static let number = "Segue-Number"
        static let type = "Segue-Type"
        static let instance = "Segue-Instance"
    }

    var headers: NATSHeaders {
        switch self {
        case .ask(let id, _): Self.headers("ask", id)
        case .cancel(let id): Self.headers("cancel", id)
        case .ping(let id): Self.headers("ping", id)
        case .serving(let type, let instance):
            [Header.kind: "serving", Header.type: type.description, Header.instance: instance]
        }
    }

    private static func headers(_ kind: String, _ id: QueryID) -> NATSHeaders {
        [Header.kind: kind, Header.asker: id.asker, Header.number: String(id.number)]
    }

    var body: [UInt8] {
        guard case .ask(_, let message) = self else { return [] }
        var writer = ByteWriter(capacity: message.header.count + message.data.count + 256)
        message.write(to: &writer)
        return writer.bytes
    }

    /// Reads a message. Nil if it is not one.
    init?(_ message: NATSMessage) {
        switch message.header(Header.kind) {
        case "ask":
            var reader = ByteReader(message.body)
            guard let id = Self.id(message), let query = try? PublishedMessage(&reader), reader.isAtEnd,
                (try? query.validated())?.type.kind == .query
            else { return nil }
            self = .ask(id, query)
        case "cancel":
            guard let id = Self.id(message) else { return nil }
            self = .cancel(id)
        case "ping":
            guard let id = Self.id(message) else { return nil }
            self = .ping(id)
        case "serving":
            guard let type = message.header(Header.type).flatMap({ MessageType($0) }), type.kind == .query,
                let instance = message.header(Header.instance), QueryID.isInstance(instance)
            else { return nil }
            self = .serving(type, instance: instance)
        default: return nil
        }
    }

    private static func id(_ message: NATSMessage) -> QueryID? {
        guard let asker = message.header(Header.asker), QueryID.isInstance(asker),
            let number = message.header(Header.number).flatMap({ UInt64($0) })
        else { return nil }
        return QueryID(asker: asker, number: number)
    }
}

/// A query of one process.
struct QueryID: Hashable, Sendable {
    /// The instance of the process that asks.
    let asker: String
    let number: UInt64

    /// True for the name of an instance: 32 hexadecimal digits.
    static func isInstance(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The reply to an `ask` or a `ping`.
enum QueryReply: Hashable, Sendable {
    case answer(header: Bytes, data: Bytes)
    /// The process could not answer, or stopped serving.
    case failed(String)
    /// The process does not serve the type, or has too many queries. Another one may accept the query.
    case refused(String)
    case alive
    /// The process does not know the query.
    case unknown

    private enum Header {
        static let kind = "Segue-Reply"
        static let reason = "Segue-Reason"
        static let responder = "Segue-Instance"
    }

    private static let reasonLength = 1000

    /// - Parameter responder: The instance of the process that replies.
    func headers(from responder: String) -> NATSHeaders {
        var headers = headers
        headers[Header.responder] = responder
        return headers
    }

    /// True if a process has sent the reply. A process that can read the subject of the reply can claim to be another.
    static func isReply(_ message: NATSMessage, from responder: String) -> Bool {
        message.header(Header.responder) == responder
    }

    private var headers: NATSHeaders {
        switch self {
        case .answer: [Header.kind: "answer"]
        case .failed(let reason): [Header.kind: "failed", Header.reason: Self.line(reason)]
        case .refused(let reason): [Header.kind: "refused", Header.reason: Self.line(reason)]
        case .alive: [Header.kind: "alive"]
        case .unknown: [Header.kind: "unknown"]
        }
    }

    /// A header is one line.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }))
            .prefix(utf8: reasonLength)
    }

    var body: [UInt8] {
        guard case .answer(let header, let data) = self else { return [] }
        var writer = ByteWriter(capacity: header.count + data.count + 8)
        writer.write(blob: header)
        writer.write(blob: data)
        return writer.bytes
    }

    /// Reads a reply. Nil if it is not one.
    init?(_ message: NATSMessage) {
        let reason = message.header(Header.reason)?.prefix(utf8: Self.reasonLength) ?? ""
        switch message.header(Header.kind) {
        case "answer":
            var reader = ByteReader(message.body)
            guard let header = try? reader.blob(), let data = try? reader.blob(), reader.isAtEnd,
                header.count <= Limits.headerSize, data.count <= Limits.dataSize
            else { return nil }
            self = .answer(header: header, data: data)
        case "failed": self = .failed(reason)
        case "refused": self = .refused(reason)
        case "alive": self = .alive
        case "unknown": self = .unknown
        default: return nil
        }
    }
}

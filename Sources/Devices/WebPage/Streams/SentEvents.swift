internal import DequeModule
internal import Support

/// The events that a stream has sent last, for a connection that begins where another one was interrupted.
struct SentEvents: Sendable {
    /// The maximum number of events that are kept.
    static let countLimit = 256
    /// The maximum size of the events that are kept, in bytes.
    static let sizeLimit = 4 << 20

    /// A random text that distinguishes the ids of this process from those of others.
    private let run: String
    /// The number of the last event; 0 before the first one.
    private(set) var last: UInt64 = 0
    /// The events up to `last`, without gaps.
    private var events: Deque<[UInt8]> = []
    private var size = 0

    init(run: String) {
        self.run = run
    }

    /// Adds an event.
    /// - Parameter data: JSON on one line.
    /// - Returns: The event as it is sent.
    mutating func add(_ name: String, data: [UInt8]) -> [UInt8] {
        last += 1
        let event = Self.event(name, id: id(last), data: data)
        events.append(event)
        size += event.count
        while size > Self.sizeLimit || events.count > Self.countLimit, let first = events.popFirst() {
            size -= first.count
        }
        return event
    }

    /// The events after the one with this id, or nil if they are not known.
    func events(after id: String) -> [[UInt8]]? {
        guard let number = number(of: id), number <= last, last - number <= UInt64(events.count) else { return nil }
        return Array(events.suffix(Int(last - number)))
    }

    /// The id of the last event.
    var lastID: String { id(last) }

    private func id(_ number: UInt64) -> String { "\(run)-\(number)" }

    private func number(of id: String) -> UInt64? { id.removing(prefix: "\(run)-").flatMap { UInt64($0) } }

    /// An event in the form of Server-Sent Events.
    static func event(_ name: String, id: String, data: [UInt8]) -> [UInt8] {
        Array("id: \(id)\nevent: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}

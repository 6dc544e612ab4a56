internal import BusFormat
internal import BusProtocol

/// The client's knowledge of the broker's journal. The client sends it with each hello.
struct KnownJournal {
    private let producer: ProducerID
    /// The epoch of the journal; 0 until a broker has named it.
    private(set) var epoch: UInt64 = 0
    /// The highest offset that this client has seen. A journal that ends before this offset has lost its end.
    private(set) var lastSeen: UInt64 = 0
    /// The last welcome. The next hello in this epoch contains its head and mark.
    private(set) var lastWelcome: Welcome?
    /// False after the broker has refused a long hello. True again when the feed reconnects or another epoch begins.
    private var acceptsLongGreetings = true

    init(producer: ProducerID) {
        self.producer = producer
    }

    var greeting: Greeting {
        let welcome = lastWelcome?.epoch == epoch ? lastWelcome : nil
        return Greeting(
            producer: producer, epoch: epoch, offset: lastSeen, head: welcome?.head ?? 0, mark: welcome?.mark ?? 0,
            asksForMore: acceptsLongGreetings)
    }

    /// True if the journal has grown since the last welcome.
    var hasGrown: Bool {
        lastWelcome.map { $0.epoch == epoch && $0.head < lastSeen } ?? false
    }

    /// Records an offset that the journal has reached.
    mutating func see(_ offset: UInt64, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        lastSeen = max(lastSeen, offset)
    }

    /// Records the epoch of a reply.
    /// - Returns: True if the epoch replaced another one.
    mutating func follow(_ new: UInt64) -> Bool {
        guard new != epoch else { return false }
        defer { epoch = new }
        guard epoch != 0 else { return false }
        (acceptsLongGreetings, lastSeen) = (true, 0)
        return true
    }

    /// True if the answer to a hello shows that the journal has lost its end.
    func hasLostEnd(_ welcome: Welcome, after greeting: Greeting) -> Bool {
        greeting.epoch == epoch && welcome.head < greeting.offset
    }

    /// Records that the journal has lost its messages after `head`.
    mutating func rewind(to head: UInt64) {
        lastSeen = head
    }

    mutating func record(_ welcome: Welcome) {
        lastWelcome = welcome
        see(welcome.head, of: welcome.epoch)
    }

    /// Records that the broker has refused a long hello.
    mutating func shortenGreetings() {
        acceptsLongGreetings = false
    }

    /// Records that the connection is new: the broker may be another one.
    mutating func lengthenGreetings() {
        acceptsLongGreetings = true
    }
}

internal import BusProtocol

/// What this client knows of the broker's journal, and tells it with each hello.
///
/// The broker finds out from that whether its journal has lost its end. What the client has seen since its last hello it has to
/// compare itself.
struct KnownJournal {
    private let producer: ProducerID
    /// 0 until a broker has answered.
    private(set) var epoch: UInt64 = 0
    /// The highest offset that this client has seen: a journal that ends before it has lost its end.
    private(set) var lastSeen: UInt64 = 0
    /// What the next hello reminds the broker of: if its journal was put back, it has another message there.
    private(set) var lastWelcome: Welcome?
    /// Whether the broker takes a long hello. False from the refusal of one until the feed is connected again, or another epoch
    /// begins: an older broker may have been replaced by a newer one.
    private var takesLongGreetings = true

    init(producer: ProducerID) {
        self.producer = producer
    }

    var greeting: Greeting {
        let welcome = lastWelcome?.epoch == epoch ? lastWelcome : nil
        return Greeting(
            producer: producer, epoch: epoch, offset: lastSeen, head: welcome?.head ?? 0, mark: welcome?.mark ?? 0,
            asksForMore: takesLongGreetings)
    }

    /// Whether the journal has grown since the last welcome: what has come since has no mark.
    var hasGrown: Bool {
        lastWelcome.map { $0.epoch == epoch && $0.head < lastSeen } ?? false
    }

    /// Takes note of how long the journal is known to be.
    mutating func see(_ offset: UInt64, of epoch: UInt64) {
        guard epoch == self.epoch else { return }
        lastSeen = max(lastSeen, offset)
    }

    /// Takes note of the epoch of a reply.
    /// - Returns: whether it took the place of another one: then no offset means what it meant.
    mutating func follow(_ new: UInt64) -> Bool {
        guard new != epoch else { return false }
        defer { epoch = new }
        guard epoch != 0 else { return false }
        (takesLongGreetings, lastSeen) = (true, 0)
        return true
    }

    /// Whether the journal has lost its end, as the answer to a hello shows.
    func hasLostEnd(_ welcome: Welcome, after greeting: Greeting) -> Bool {
        greeting.epoch == epoch && welcome.head < greeting.offset
    }

    /// The journal has lost what this client has seen of it after `head`.
    mutating func takeBack(to head: UInt64) {
        lastSeen = head
    }

    mutating func note(_ welcome: Welcome) {
        lastWelcome = welcome
        see(welcome.head, of: welcome.epoch)
    }

    /// The broker has refused a long hello: it is of the version before.
    mutating func shortenGreetings() {
        takesLongGreetings = false
    }

    /// The connection is a new one, and with it perhaps the broker.
    mutating func lengthenGreetings() {
        takesLongGreetings = true
    }
}

import Testing
import ZeroMQ

@testable import Broker

@Suite("The table of open connections")
struct ConnectionTableTests {
    private static let start = ContinuousClock.now

    private func connection(_ descriptor: Int32, from host: UInt8 = 1) -> AcceptedConnection {
        // A sockaddr_in: the family, the port, the address.
        let peer = [2, 0, UInt8(descriptor >> 8 & 255), UInt8(descriptor & 255), 10, 0, 0, host]
        return AcceptedConnection(descriptor: descriptor, peer: peer + [UInt8](repeating: 0, count: 8))
    }

    private func table(_ limit: Int, _ userLimits: UserLimits = UserLimits()) -> ConnectionTable {
        ConnectionTable(limit: limit, userLimits: userLimits, handshakeLimit: .seconds(10))
    }

    private func sender(_ descriptor: Int32, _ user: String? = nil) -> ConnectionTable.Sender {
        ConnectionTable.Sender(descriptor: descriptor, user: user)
    }

    @Test("Nothing ends up to the limit, and the oldest connections without a key end beyond it")
    func limit() {
        var table = table(32)
        for descriptor in 0..<32 as Range<Int32> {
            #expect(table.open(connection(descriptor), of: .ingress, at: Self.start).isEmpty)
        }
        #expect(table.speak(sender(0), of: .ingress) == nil)
        // Those with a descriptor of the other socket are others.
        #expect(table.speak(sender(1), of: .feed) == nil)
        let ended = table.open(connection(32), of: .ingress, at: Self.start)
        #expect(ended.map(\.descriptor) == [1, 2, 3])
        #expect(table.count == 30)
    }

    @Test("A flood from one address ends no connection of another one")
    func fairness() {
        var table = table(32)
        var ended: [AcceptedConnection] = []
        for descriptor in 0..<4 as Range<Int32> {
            ended += table.open(connection(descriptor, from: 2), of: .feed, at: Self.start)
        }
        for descriptor in 4..<200 as Range<Int32> {
            ended += table.open(connection(descriptor), of: .feed, at: Self.start)
            #expect(table.count <= 32)
        }
        #expect(ended.map(\.descriptor) == Array(4..<(4 + Int32(ended.count))))
    }

    @Test("A local connection that is older than a handshake is kept, and a closed one does not count")
    func ages() {
        var table = table(16)
        func local(_ descriptor: Int32) -> AcceptedConnection {
            AcceptedConnection(descriptor: descriptor, peer: [1, 0])
        }
        for descriptor in 0..<15 as Range<Int32> { _ = table.open(local(descriptor), of: .feed, at: Self.start) }
        let late = Self.start + .seconds(11)
        _ = table.open(local(15), of: .feed, at: late)
        #expect(table.open(local(16), of: .feed, at: late).map(\.descriptor) == [15, 16])
        for descriptor in 0..<5 as Range<Int32> { table.close(descriptor, of: .feed) }
        #expect(table.count == 10)
        table.closeAll(of: .feed)
        #expect(table.count == 0)
    }

    @Test("The connections of a user beyond its limit end, and those of others do not")
    func users() {
        var limits = UserLimits()
        limits.connections = 3
        var table = table(100, limits)
        for descriptor in 0..<10 as Range<Int32> {
            _ = table.open(connection(descriptor), of: .ingress, at: Self.start)
        }
        let ended = (0..<6).compactMap { table.speak(sender($0, "a"), of: .ingress)?.descriptor }
        #expect(ended == [3, 4, 5])
        #expect((6..<9).allSatisfy { table.speak(sender($0, "b"), of: .ingress) == nil })
        table.close(0, of: .ingress)
        #expect(table.speak(sender(9, "a"), of: .ingress) == nil, "one has left")
        #expect(table.speak(sender(9, "a"), of: .ingress) == nil, "it counts once")
    }

    @Test("The connection with a subscription too many ends; those of an ended connection do not count")
    func subscriptions() {
        var limits = UserLimits()
        limits.subscriptions = 5
        var table = table(100, limits)
        for descriptor in 0..<4 as Range<Int32> {
            _ = table.open(connection(descriptor), of: .feed, at: Self.start)
            _ = table.speak(sender(descriptor, descriptor < 3 ? "a" : "b"), of: .feed)
        }
        func subscribe(_ descriptor: Int32, _ count: Int) -> [Int32] {
            (0..<count).compactMap { _ in table.subscribe(sender(descriptor, "a"))?.descriptor }
        }
        #expect(subscribe(0, 3) == [])
        #expect(subscribe(1, 3) == [1])
        #expect(subscribe(3, 5) == [])
        #expect(subscribe(2, 2) == [])
        table.close(0, of: .feed)
        #expect(subscribe(2, 3) == [])
        #expect(table.subscribe(sender(2, "a"), isEnd: true) == nil)
        #expect(subscribe(2, 1) == [])
        #expect(subscribe(2, 1) == [2])
    }

    @Test("A connection to the ingress that says nothing ends; one to the feed may be silent")
    func silence() {
        var table = table(100)
        for descriptor in 0..<3 as Range<Int32> { _ = table.open(connection(descriptor), of: .ingress, at: Self.start) }
        _ = table.open(connection(3), of: .feed, at: Self.start)
        _ = table.speak(sender(1), of: .ingress)
        func check(after seconds: Int) -> [Int32] {
            table.check(at: Self.start + .seconds(seconds)) { _ in 0 }.map(\.descriptor).sorted()
        }
        #expect(check(after: 19) == [])
        #expect(check(after: 21) == [0, 2])
        #expect(check(after: 60) == [])
    }

    @Test("A connection ends when more bytes have come than a message has, but no message")
    func endless() {
        var table = table(100)
        var sizes: [Int32: UInt64] = [:]
        for descriptor in 0..<3 as Range<Int32> {
            _ = table.open(connection(descriptor), of: .ingress, at: Self.start)
            _ = table.speak(sender(descriptor), of: .ingress)
        }
        func check() -> [Int32] { table.check(at: Self.start) { sizes[$0.descriptor] }.map(\.descriptor) }
        func drained() -> [Int32] { table.checkWatched(of: .ingress) { sizes[$0.descriptor] }.map(\.descriptor) }
        #expect(check() == [] && !table.hasWatched(of: .ingress))
        sizes = [0: 100 << 20, 1: 100 << 20, 2: 1 << 20]
        #expect(check() == [] && table.hasWatched(of: .ingress) && !table.hasWatched(of: .feed))
        #expect(check() == [])
        #expect(drained() == [], "what has come before the watch counts for nothing")
        #expect(table.speak(sender(0), of: .ingress) == nil)
        sizes = [0: 140 << 20, 1: 131 << 20, 2: 2 << 20]
        #expect(drained() == [])
        sizes[1] = 133 << 20
        #expect(drained() == [1])
        #expect(!table.hasWatched(of: .ingress))
    }

    @Test("A message without end is noticed, also if it comes slowly")
    func slow() {
        var table = table(100)
        _ = table.open(connection(0), of: .ingress, at: Self.start)
        _ = table.speak(sender(0), of: .ingress)
        var (size, ended) = (UInt64(0), 0)
        for _ in 0..<100 {
            size += 1 << 20
            ended += table.check(at: Self.start) { _ in size }.count
            ended += table.checkWatched(of: .ingress) { _ in size }.count
        }
        #expect(ended == 1)
    }

    @Test("A late message of an ended connection does not end the one that has got its descriptor")
    func reused() {
        var limits = UserLimits()
        limits.connections = 1
        var table = table(100, limits)
        _ = table.open(connection(0), of: .ingress, at: Self.start)
        _ = table.speak(sender(0, "b"), of: .ingress)
        #expect(table.end(sender(0, "a"), of: .ingress) == nil)
        #expect(table.speak(sender(0, "a"), of: .ingress) == nil)
        #expect(table.speak(sender(0, "b"), of: .ingress) == nil)
        _ = table.open(connection(1), of: .ingress, at: Self.start)
        #expect(table.speak(sender(1, "a"), of: .ingress) == nil)
        #expect(table.end(sender(0, "b"), of: .ingress)?.descriptor == 0)
        #expect(table.end(sender(7, "b"), of: .feed)?.descriptor == 7, "the table does not know it yet")
    }

    @Test("The broker keeps descriptors for itself, and with enough of them also those that a flood can take at once")
    func reserve() {
        #expect(ConnectionLimiter.connectionLimit(descriptors: 128) == 64)
        #expect(ConnectionLimiter.connectionLimit(descriptors: 1024) == 512)
        #expect(Broker.descriptorLimit - ConnectionLimiter.connectionLimit(descriptors: Broker.descriptorLimit) > 2042)
    }
}

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

    private func table(_ limit: Int) -> ConnectionTable {
        ConnectionTable(limit: limit, handshakeLimit: .seconds(10))
    }

    @Test("Nothing ends up to the limit, and the oldest connections without a key end beyond it")
    func limit() {
        var table = table(32)
        for descriptor in 0..<32 as Range<Int32> {
            #expect(table.open(connection(descriptor), of: .ingress, at: Self.start).isEmpty)
        }
        table.prove(0, of: .ingress)
        // Those with a descriptor of the other socket are others.
        table.prove(1, of: .feed)
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

    @Test("A connection that is older than a handshake has proved its key, and a closed one does not count")
    func ages() {
        var table = table(16)
        for descriptor in 0..<15 as Range<Int32> { _ = table.open(connection(descriptor), of: .feed, at: Self.start) }
        let late = Self.start + .seconds(11)
        _ = table.open(connection(15), of: .feed, at: late)
        #expect(table.open(connection(16), of: .feed, at: late).map(\.descriptor) == [15, 16])
        for descriptor in 0..<5 as Range<Int32> { table.close(descriptor, of: .feed) }
        #expect(table.count == 10)
        table.closeAll(of: .feed)
        #expect(table.count == 0)
    }

    @Test("The broker keeps descriptors for itself, and with enough of them also those that a flood can take at once")
    func reserve() {
        #expect(ConnectionLimiter.connectionLimit(descriptors: 128) == 64)
        #expect(ConnectionLimiter.connectionLimit(descriptors: 1024) == 512)
        #expect(Broker.descriptorLimit - ConnectionLimiter.connectionLimit(descriptors: Broker.descriptorLimit) > 2042)
    }
}

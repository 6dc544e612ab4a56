import BusFormat
import EventBus
import Testing

@testable import BusProtocol

@Suite("Topics and addresses")
struct TopicTests {
    @Test(
        "The partition of a subject never changes",
        arguments: [("default", 0x3e), ("", 0x25), ("amélie", 0x23)] as [(String, UInt8)])
    func partition(subject: String, partition: UInt8) {
        #expect(Partition(subject: subject).number == partition)
    }

    @Test(
        "A text that is not kind.Name.partition is not a topic",
        arguments: [
            "", "command", "command.X", "command.X.", "command.X.4", "command.X.40", "command.X.3F", "command.X.+1",
            "\u{0}command.X.3f", "order.X.3f", "command..3f", "command.9X.3f", "command.X Y.3f",
            "command.\(String(repeating: "X", count: 240)).3f",
        ])
    func malformed(text: String) {
        #expect(Topic(text) == nil)
    }

    @Test("A filter ends where a part of the topic ends")
    func prefixes() {
        let type = MessageType(kind: .event, name: "PlaylistsLoaded")
        #expect(MessageFilter.type(type).topicPrefixes == ["event.PlaylistsLoaded."])
        #expect(MessageFilter.kind(.event).topicPrefixes == ["event."])
        #expect(MessageFilter.type(type, subject: "default").topicPrefixes == ["event.PlaylistsLoaded.3e"])
        #expect(MessageFilter.all.topicPrefixes.count == MessageKind.allCases.count)
    }

    @Test("An address names two sockets")
    func endpoints() throws {
        let directory = try BusAddress("ipc:///run/segue/bus")
        #expect(directory.ingress == "ipc:///run/segue/bus/ingress")
        #expect(directory.feed == "ipc:///run/segue/bus/feed")
        let network = try BusAddress("tcp://127.0.0.1:7000")
        #expect(network.ingress == "tcp://127.0.0.1:7000")
        #expect(network.feed == "tcp://127.0.0.1:7001")
    }

    @Test(
        "An address that cannot be used is refused in one line that quotes it",
        arguments: [
            "", "ipc://relative", "tcp://host", "tcp://host:0", "tcp://host:65535", "http://x:1",
            "ipc:///\(String(repeating: "d", count: 120))",
        ])
    func badAddress(text: String) throws {
        let error = try #require(throws: BusError.self) { try BusAddress(text) }
        #expect(error.code == .address)
        #expect(error.message.contains(text))
        #expect(!error.message.contains("\n"))
    }
}

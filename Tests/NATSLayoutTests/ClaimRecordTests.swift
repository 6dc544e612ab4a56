import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Records of claims")
struct ClaimRecordTests {
    /// A group after some random claims, progress and departures.
    private static func group(_ generator: inout SeededGenerator) -> ConsumerGroup {
        var group = ConsumerGroup(after: .random(in: 0...1_000, using: &generator))
        let members = (0..<3).map { _ in ConsumerMember(.shared) } + [.exclusive, .exclusive]
        for step in 0..<Int.random(in: 0...20, using: &generator) {
            guard let member = members.randomElement(using: &generator) else { continue }
            if generator.chance(1, in: 5) { group.leave(member.id) }
            let ownership = group.claim(member)
            let partition = ownership.offsets.keys.randomElement(using: &generator)
            _ = group.record(
                UInt64(step * 100), partition: partition, settled: UInt64(step * 90),
                ownerGeneration: ownership.ownerGeneration)
        }
        return group
    }

    @Test("A group reads back as it was written, and continues in the same way")
    func groups() throws {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<50 {
            var group = Self.group(&generator)
            let json = try GroupRecord(group, epoch: 1).json()
            let record = try GroupRecord(json: json)
            #expect(record == GroupRecord(group, epoch: 1))
            var read = try #require(record.existing(in: JournalEpochs(1), at: 1))
            #expect(read == group)
            let member = ConsumerMember.shared
            #expect(read.claim(member) == group.claim(member))
        }
        let removed = try GroupRecord(json: GroupRecord(removedAfter: 41).json())
        #expect(removed.existing(in: JournalEpochs(1), at: 1) == nil)
        var group = removed.group(in: JournalEpochs(1), at: 1)
        #expect(group.claim(.exclusive).ownerGeneration == 42)
    }

    @Test("The other records read back as they were written")
    func others() throws {
        let fence = FenceRecord(ownerGeneration: 9, previous: 4, member: UUID())
        #expect(try FenceRecord(json: fence.json()) == fence)
        for state in [LeaseState.held, .revoked, .withdrawn] {
            #expect(try LeaseRecord(json: LeaseRecord(state).json()).state == state)
        }
        let steward = StewardRecord(instance: UUID(), term: 3)
        #expect(try StewardRecord(json: steward.json()) == steward)
        let watermark = WatermarkRecord(sequence: 88, epoch: .max)
        #expect(try WatermarkRecord(json: watermark.json()) == watermark)
        #expect(String(decoding: try watermark.json(), as: UTF8.self).contains("\"version\":1"))
    }

    @Test("The table of types has the newest message of each, up to a limit")
    func typeTable() throws {
        let (first, second) = (MessageType(kind: .event, name: "A"), MessageType(kind: .command, name: "A"))
        var table = TypeTable()
        table.record(first, at: 9)
        table.record(first, at: 7)
        table.record(second, at: 8)
        table = try TypeTable(json: table.json())
        #expect(table.newest(matching: [.all]) == [first: 9, second: 8])
        #expect(table.newest(matching: [.type(first, subject: "x")]) == [first: 9])
        for number in 0..<5_000 { table.record(MessageType(kind: .event, name: "T\(number)"), at: 1) }
        table.record(first, at: 10)
        #expect(table.newest(matching: [.all]).count == 4096)
        #expect(try TypeTable(json: table.json()).newest(matching: [.type(first)]) == [first: 10])
        let damaged = #"{"record":{"offsets":{"x":1}},"version":1}"#
        #expect(throws: ProtocolError.self) { try TypeTable(json: Array(damaged.utf8)) }
    }

    @Test("A record of a newer version is refused with an error that says so")
    func newer() throws {
        let json = #"{"version":2,"record":{"state":"held"}}"#
        #expect { try LeaseRecord(json: Array(json.utf8)) } throws: { ($0 as? ProtocolError)?.code == .version }
    }

    private static func change(_ json: String, _ old: String, _ new: String) -> [UInt8] {
        Array(json.replacingOccurrences(of: old, with: new).utf8)
    }

    @Test("A damaged record gives an error in one line")
    func damaged() throws {
        var generator = SeededGenerator(seed: 9)
        var group = ConsumerGroup(after: 6)
        _ = group.claim(.exclusive)
        let json = String(decoding: try GroupRecord(group, epoch: 1).json(), as: UTF8.self)
        let share = #""offset":0,"ownerEpoch":7}"#
        #expect(json.contains(share))
        for damaged in [
            [], Array("{}".utf8), Array("null".utf8), Array("[1]".utf8),
            Self.change(json, "\"ownerEpoch\":7", "\"ownerEpoch\":-7"),
            Self.change(json, "\"ownerEpoch\":7", "\"ownerEpoch\":18446744073709551615"),
            Self.change(json, "\"ownerEpoch\":7", "\"ownerEpoch\":1.5"),
            Self.change(json, "\"shares\":[{", "\"shares\":[{},{"),
            Self.change(json, "\"version\":1", "\"version\":\"1\""),
            Self.change(json, "\"offset\":0", "\"offset\":\"0\""),
            Self.change(json, "\"members\":[]", "\"members\":[\"\(UUID())\"]"),
            Array(repeating: 0x20, count: 2 * 1024 * 1024),
        ] as [[UInt8]] {
            #expect {
                try GroupRecord(json: damaged)
            } throws: {
                guard let error = $0 as? ProtocolError else { return false }
                return !error.message.contains("\n")
            }
        }
        let bytes = Array(json.utf8)
        for _ in 0..<2_000 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0x20...0x7e, using: &generator)
            do {
                var read = try GroupRecord(json: changed).group(in: JournalEpochs(1), at: 1)
                // A group that is read can be claimed without a trap.
                _ = read.claim(.shared)
                _ = read.claim(.exclusive)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
        let fence = String(
            decoding: try FenceRecord(ownerGeneration: 9, previous: 4, member: UUID()).json(), as: UTF8.self)
        #expect(throws: ProtocolError.self) {
            try FenceRecord(json: Self.change(fence, "\"previous\":4", "\"previous\":9"))
        }
    }

    @Test("A record that is too large gives an error with the limit")
    func tooLarge() throws {
        let shares = Partition.all.map { _ in ConsumerGroup.Share(offset: 0) }
        let many = ConsumerGroup(
            ownerGeneration: 100, shares: shares, progress: Dictionary(uniqueKeysWithValues: (0..<65).map { ($0, 1) }),
            members: [])
        let displaced = ConsumerGroup(
            ownerGeneration: 100, shares: shares, progress: [:], members: [], displaced: (0..<1025).map { _ in UUID() })
        for (group, text) in [
            (many, "65 owner generations with progress; at most 64"), (displaced, "1025 displaced members"),
        ] {
            let json = try GroupRecord(group, epoch: 1).json()
            #expect {
                try GroupRecord(json: json)
            } throws: {
                ($0 as? ProtocolError).map { $0.code == .tooLarge && $0.message.contains(text) } ?? false
            }
        }
    }

    @Test("Cut-offs are reported until there is progress under a later fence")
    func cutOffs() throws {
        let type = MessageType(kind: .event, name: "A")
        let first = CutOff(type: type, count: 2, offsets: 1...5)
        let second = CutOff(type: type, count: 3, offsets: 6...9)
        let at100 = CutOffRecord().adding([first], recordedAt: nil, progress: nil)
        #expect(at100.cutOffs(recordedAt: 100, progress: nil) == [first])
        // Under the fence 90 the cut-off may not have been reported; under 110 it was.
        #expect(at100.cutOffs(recordedAt: 100, progress: 90) == [first])
        #expect(at100.cutOffs(recordedAt: 100, progress: 110) == [])
        let at200 = try CutOffRecord(json: at100.adding([second], recordedAt: 100, progress: 90).json())
        #expect(at200.cutOffs(recordedAt: 200, progress: 90) == [CutOff(type: type, count: 5, offsets: 1...9)])
        #expect(at200.cutOffs(recordedAt: 200, progress: 110) == [second])
        #expect(at200.cutOffs(recordedAt: 200, progress: 210) == [])
        #expect(at200.adding([], recordedAt: 200, progress: 210) == CutOffRecord())
        let joined = CutOffRecord().adding([first, second], recordedAt: nil, progress: nil)
        #expect(joined.cutOffs(recordedAt: 1, progress: nil) == [CutOff(type: type, count: 5, offsets: 1...9)])
        let json = String(decoding: try at100.json(), as: UTF8.self)
        #expect(throws: ProtocolError.self) { try CutOffRecord(json: Self.change(json, "\"first\":1", "\"first\":6")) }
    }
}

import EventBus
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Filters of a JetStream consumer")
struct SubjectFiltersTests {
    private static let types = ["event.A", "event.B", "command.A", "document.A"].compactMap { MessageType($0) }
    /// Subjects of different buckets, two of them in one partition.
    private static let subjects: [String] = {
        var subjects: [String] = ["default"]
        let partition = Partition(subject: "default")
        let candidates = (0..<2_000).map { "s\($0)" }
        subjects += candidates.filter {
            Partition(subject: $0) == partition && Bucket(subject: $0) != Bucket(subject: "default")
        }
        .prefix(1)
        return subjects + candidates.filter { Partition(subject: $0) != partition }.prefix(2)
    }()

    private static func filter(_ generator: inout SeededGenerator) -> MessageFilter {
        let type = types.randomElement(using: &generator) ?? types[0]
        let subject = generator.chance(1, in: 2) ? subjects.randomElement(using: &generator) : nil
        return switch Int.random(in: 0..<5, using: &generator) {
        case 0: subject.map(MessageFilter.subject) ?? .all
        case 1, 2: .kind(type.kind, subject: subject)
        default: .type(type, subject: subject)
        }
    }

    private static func passes(_ messages: [Envelope], _ filters: [String]) -> Bool {
        let subjects = [
            BusSubject.batch(MessageTokens(of: messages)),
            .results(ConsumerPartition("c", Partition.all[9]), MessageTokens(of: messages)),
        ]
        let passed = subjects.map { subject in filters.count { NATSRules.matches(subject.text(in: "S"), $0) } }
        #expect(passed.allSatisfy { $0 == passed[0] && $0 <= 1 })
        return passed[0] > 0
    }

    @Test("One filter selects exactly its messages, and every batch that contains one")
    func one() {
        var generator = SeededGenerator(seed: 4)
        let messages = Self.types.flatMap { type in Self.subjects.map { Samples.message(type, subject: $0) } }
        for type in Self.types.map(Optional.some) + [nil] {
            for filter in [
                type.map { MessageFilter.type($0) } ?? .all, type.map { MessageFilter.kind($0.kind) } ?? .all,
                type.map { MessageFilter.type($0, subject: Self.subjects[0]) }
                    ?? .subject(Self.subjects[1]),
                type.map { MessageFilter.kind($0.kind, subject: Self.subjects[2]) } ?? .all,
            ] {
                let texts = SubjectFilters([filter]).texts(in: "S")
                #expect((1...9).contains(texts.count))
                for message in messages { #expect(Self.passes([message], texts) == filter.matches(message)) }
                for _ in 0..<200 {
                    let batch = (0..<Int.random(in: 2...4, using: &generator)).compactMap { _ in
                        messages.randomElement(using: &generator)
                    }
                    if batch.contains(where: filter.matches) { #expect(Self.passes(batch, texts)) }
                }
            }
        }
        #expect(SubjectFilters([.type(Self.types[0], subject: "x")]).texts(in: "S").count == 9)
        #expect(SubjectFilters([.type(Self.types[0])]).texts(in: "S").count == 3)
        #expect(SubjectFilters([.all]).texts(in: "S") == ["S.m.>"])
    }

    @Test("Several filters select all messages of any of them, and no two collide")
    func several() {
        var generator = SeededGenerator(seed: 5)
        let messages = Self.types.flatMap { type in Self.subjects.map { Samples.message(type, subject: $0) } }
        for _ in 0..<400 {
            let filters = (0..<Int.random(in: 1...6, using: &generator)).map { _ in Self.filter(&generator) }
            let texts = SubjectFilters(filters).texts(in: "S")
            #expect(texts.count <= SubjectFilters.capacity && !texts.isEmpty)
            for (index, text) in texts.enumerated() {
                for other in texts[(index + 1)...] { #expect(!NATSRules.collide(text, other), "\(text) \(other)") }
            }
            #expect(SubjectFilters(filters.shuffled(using: &generator)).texts(in: "S") == texts)
            for message in messages where filters.contains(where: { $0.matches(message) }) {
                #expect(Self.passes([message], texts))
                for other in messages { #expect(Self.passes([message, other], texts)) }
            }
            // A batch without messages, such as progress, is sent to those only who want everything.
            #expect(Self.passes([], texts) == (texts == ["S.m.>"]))
        }
    }

    @Test("Filters of types select no other type")
    func precise() {
        for first in Self.types {
            for second in Self.types {
                let filters: [MessageFilter] = [.type(first), .type(second, subject: "default")]
                let texts = SubjectFilters(filters).texts(in: "S")
                for type in Self.types where type != first && type != second {
                    #expect(!Self.passes([Samples.message(type)], texts))
                }
            }
        }
    }

    @Test("Filters of some partitions select their batches, and mixed ones")
    func partitions() {
        let partitions: Set = [Partition(subject: Self.subjects[0])]
        let texts = SubjectFilters(
            [.type(Self.types[0]), .kind(.command, subject: Self.subjects[2])], partitions: partitions
        )
        .texts(in: "S")
        #expect(Self.passes([Samples.message(Self.types[0], subject: Self.subjects[0])], texts))
        #expect(Self.passes([Samples.message(Self.types[0], subject: Self.subjects[1])], texts))
        #expect(!Self.passes([Samples.message(Self.types[0], subject: Self.subjects[2])], texts))
        #expect(!Self.passes([Samples.message(Self.types[2], subject: Self.subjects[2])], texts))
        #expect(
            Self.passes(
                [Self.subjects[0], Self.subjects[2]].map { Samples.message(Self.types[0], subject: $0) }, texts))
        let half = Set(Partition.all.prefix(32))
        #expect(SubjectFilters([.type(Self.types[0])], partitions: half).texts(in: "S").count == 3)
        #expect(SubjectFilters([.all], partitions: half).texts(in: "S").count == 33)
        #expect(SubjectFilters([.all], partitions: Set(Partition.all)).texts(in: "S") == ["S.m.>"])
    }

    @Test("Too many filters are replaced by fewer and broader ones, but not by all messages")
    func tooMany() throws {
        let type = Self.types[0]
        let subjects = (0..<500).map { MessageFilter.type(type, subject: "s\($0)") }
        #expect(SubjectFilters(subjects).texts(in: "S") == SubjectFilters([.type(type)]).texts(in: "S"))
        let names = try (0..<100).map { MessageFilter.type(try #require(MessageType("event.E\($0)"))) }
        #expect(SubjectFilters(names).texts(in: "S") == SubjectFilters([.kind(.event)]).texts(in: "S"))
        #expect(SubjectFilters(names + [.all]).texts(in: "S") == ["S.m.>"])
        #expect(SubjectFilters([]).texts(in: "S") == [])
    }
}

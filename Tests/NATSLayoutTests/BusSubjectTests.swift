import BusFormat
import EventBus
import Foundation
import TestSupport
import Testing

@testable import NATSLayout

@Suite("Subjects on NATS")
struct BusSubjectTests {
    @Test("Every text has exactly one token")
    func tokens() {
        var generator = SeededGenerator(seed: 1)
        var texts: [String: String] = [:]
        for text in ["", "-", "--", "+", "~", "*", ">", ".", "a.b", "~2d", "-a", "$JS", "\u{0}", "é", "e\u{301}"]
            + (0..<3_000).map({ _ in Samples.text(upTo: 8, &generator) })
        {
            let token = SubjectToken.encode(text)
            #expect(NATSRules.isSubject(token) && !token.contains("."), "\(text)")
            #expect(token != "-" && !token.contains("+"))
            #expect(SubjectToken.decode(token)?.utf8.elementsEqual(text.utf8) == true, "\(text)")
            if let known = texts[token] { #expect(known.utf8.elementsEqual(text.utf8)) }
            texts[token] = text
        }
        #expect(SubjectToken.encode(String(repeating: "é", count: 127) + ".").utf8.count == 765)
    }

    @Test(
        "A token in another notation is refused",
        arguments: [
            "", "-", "+", "~4", "~4g", "~61", "~2D", "~2d~", "~~", "a.b", "a b", "ä", "~ff", "~c3", "~mark", "*", "~-1",
            "~+1",
        ])
    func otherTokens(token: String) {
        #expect(SubjectToken.decode(token) == nil)
    }

    private static func subjects(_ generator: inout SeededGenerator) -> [BusSubject] {
        let consumer = "c" + Samples.text(upTo: 6, &generator)
        let owner = ConsumerPartition(consumer, Partition.all.randomElement(using: &generator) ?? Partition.all[0])
        let producer = ProducerID()
        let types = ["event.A-b", "command.Z_1", "event.B", "document.A"].compactMap { MessageType($0) }
        let messages = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            Samples.message(
                types.randomElement(using: &generator) ?? types[0], subject: Samples.text(upTo: 2, &generator))
        }
        let tokens = MessageTokens(of: messages)
        let name = DocumentName(
            types[3], subject: Samples.text(upTo: 4, &generator), key: Samples.text(upTo: 3, &generator))
        return [
            .batch(tokens), .results(owner, tokens), .settlement, .group(consumer: consumer), .fence(owner),
            .progress(owner), .lease(producer), .cutOffs(consumer: consumer), .steward, .document(name),
            .documentWatermark,
            .typeTable, .documentFence(owner.partition),
            .deadLetter(consumer: consumer, sequence: .random(in: 0...(.max), using: &generator)), .transient(tokens),
            .queryServers(MessageType(kind: .query, name: "Q-1")), .queries(to: Samples.text(upTo: 5, &generator)),
            .heartbeat, .alive,
        ]
    }

    @Test("Every subject is read as it was written, only in its own namespace")
    func roundTrip() {
        var generator = SeededGenerator(seed: 2)
        var seen: [String: BusSubject] = [:]
        for _ in 0..<300 {
            for subject in Self.subjects(&generator) {
                let text = subject.text(in: "SEGUE")
                #expect(NATSRules.isSubject(text))
                #expect(text.utf8.count < 2048)
                #expect(BusSubject(text, in: "SEGUE") == subject, "\(text)")
                #expect(BusSubject(text, in: "OTHER") == nil)
                if let known = seen[text] { #expect(known == subject) }
                seen[text] = subject
                let names = StreamNames("SEGUE")
                let streams = [names.journalSubjects, names.documentSubjects, names.deadLetterSubjects]
                    .map { $0.contains { NATSRules.matches(text, $0) } }
                #expect(streams.count { $0 } <= 1)
            }
        }
    }

    @Test("A damaged subject is refused, or is one that is written the same way")
    func damaged() {
        var generator = SeededGenerator(seed: 3)
        let bytes = Array("SEGUE.mkdxtq-+~*>0fFa9 ".utf8)
        for _ in 0..<300 {
            for subject in Self.subjects(&generator) {
                var text = Array(subject.text(in: "SEGUE").utf8)
                let index = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: text[index] = bytes.randomElement(using: &generator) ?? 0x2e
                case 1: text.remove(at: index)
                default: text.insert(bytes.randomElement(using: &generator) ?? 0x2e, at: index)
                }
                let damaged = String(decoding: text, as: UTF8.self)
                if let read = BusSubject(damaged, in: "SEGUE") { #expect(read.text(in: "SEGUE") == damaged) }
            }
        }
        for text in [
            "SEGUE", "SEGUE.", "SEGUE.m", "SEGUE.m.-.-.+.+.+", "SEGUE.m.-.-.+.Name.+.+", "SEGUE.m.-.-.event.A.+.3f",
            "SEGUE.m.-.3f.event.A.+.+", "SEGUE.m.a.40.event.A.+.+", "SEGUE.m.a.3F.event.A.+.+",
            "SEGUE.m.-.-.event.A.3f.40", "SEGUE.m.-.-.-.-.+.+", "SEGUE.x.a.01", "SEGUE.x.a.-1", "SEGUE.hb.a",
            "SEGUE.d.A.00.default.~", "SEGUE.k.l.0", "SEGUE.m.~settle.0.event.A.+.+", "SEGUE.k.g.~",
        ] { #expect(BusSubject(text, in: "SEGUE") == nil, "\(text)") }
    }

    @Test(
        "Documents with different names have different subjects, which match no record beside them"
    )
    func documents() throws {
        let type = try #require(MessageType("document.A"))
        let parts = ["", "-", "~", ".", "a", "a.b", "a.~", "~2e", "b", "*", ">", "+"]
        let names = parts.flatMap { subject in parts.map { DocumentName(type, subject: subject, key: $0) } }
        #expect(Set(names.map { BusSubject.document($0).text(in: "S") }).count == names.count)
        let streams = StreamNames("S")
        for name in names {
            let text = BusSubject.document(name).text(in: "S")
            for filter in [
                MessageFilter.all, .kind(.document), .type(type), .type(type, subject: name.subject),
                .kind(.document, subject: name.subject), .subject(name.subject),
                .type(type, subject: "other"),
            ] {
                let pattern = try #require(streams.documents(matching: filter))
                #expect(NATSRules.matches(text, pattern) == filter.matches(type, subject: name.subject))
                for record in [BusSubject.documentWatermark, .typeTable, .documentFence(Partition.all[1])] {
                    #expect(!NATSRules.matches(record.text(in: "S"), pattern))
                }
            }
        }
        #expect(streams.documents(matching: .kind(.event)) == nil)
    }

    @Test("A filter selects the progress of one consumer only")
    func progress() throws {
        let tokens = MessageTokens(try #require(MessageType("event.A")), subject: "x")
        for consumer in ["a", "a-b", "-", "b.c", "*"] {
            let patterns = StreamNames("S").progress(of: consumer)
            for other in ["a", "a-b", "-", "b.c", "*", "b"] {
                let owner = ConsumerPartition(other, Partition.all[5])
                for subject in [
                    BusSubject.results(owner, tokens), .results(owner, .none), .progress(owner), .fence(owner),
                ] {
                    let isSelected = patterns.contains { NATSRules.matches(subject.text(in: "S"), $0) }
                    #expect(isSelected == (consumer == other))
                }
            }
            for subject in [
                BusSubject.batch(tokens), .settlement, .group(consumer: consumer), .cutOffs(consumer: consumer),
            ] {
                #expect(!patterns.contains { NATSRules.matches(subject.text(in: "S"), $0) })
            }
        }
    }
}

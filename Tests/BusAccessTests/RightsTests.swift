import BusAccess
import BusKeys
import EventBus
import Foundation
import TestSupport
import Testing

@Suite("Rights on a bus with keys")
struct RightsTests {
    private let buy = MessageType(kind: .command, name: "Buy")
    private let sold = MessageType(kind: .event, name: "Sold")
    private let presence = MessageType(kind: .document, name: "Presence")
    private let price = MessageType(kind: .query, name: "Price")

    private var shop: Access {
        Access(of: [
            DeclaredProgram(name: "shop", receives: [buy, price], sends: [sold], consumers: nil),
            DeclaredProgram(name: "broker", receives: [], sends: [sold], consumers: nil),
        ])
    }

    private func rights(_ name: String, _ role: String? = nil) throws -> Rights {
        Rights(of: try .sample(name, role), in: shop)
    }

    @Test("Without an access file, nothing is refused")
    func none() throws {
        let rights = Rights(of: try .sample("shop"), in: nil)
        #expect(rights.areUnlimited)
        #expect(rights.refusalToPublish(buy, subject: "a") == nil)
        #expect(rights.refusalToRead(topics: "command.") == nil)
        #expect(rights.refusalToClaim("other") == nil)
        #expect(rights.mayReceive(buy, subject: "a") == .everything)
    }

    @Test("An operator may do everything")
    func operators() throws {
        let rights = try rights("operator")
        #expect(rights.refusalToPublish(presence, subject: "a", key: "1", replacingDocumentOf: "shop") == nil)
        #expect(rights.refusalToForget("shop") == nil)
        #expect(rights.refusalToServe(price) == nil)
        #expect(rights.refusalToSettleDeadLetters(of: "shop") == nil)
    }

    @Test("A monitor reads everything, and changes nothing but its presence")
    func monitor() throws {
        let rights = try rights("watch", "monitor")
        #expect(rights.refusalToRead(topics: "command.") == nil)
        #expect(rights.mayReceive(buy, subject: "a") == .everything)
        #expect(rights.refusalToReadDeadLetters(of: nil) == nil)
        #expect(rights.refusalToListConsumers() == nil)
        #expect(rights.refusalToPublish(presence, subject: Session.default, key: "1") == nil)
        #expect(rights.refusalToPublish(sold, subject: Session.default) != nil)
        #expect(rights.refusalToClaim("watch") != nil)
        #expect(rights.refusalToForget("shop") != nil)
        #expect(rights.refusalToSettleDeadLetters(of: "shop") != nil)
        #expect(rights.refusalToAsk(price, subject: "a") != nil)
        #expect(rights.refusalToServe(price) != nil)
    }

    @Test("A presence belongs to the user that has published it")
    func presences() throws {
        let rights = try rights("shop")
        #expect(rights.refusalToPublish(presence, subject: Session.default, key: "1") == nil)
        #expect(
            rights.refusalToPublish(presence, subject: Session.default, key: "1", replacingDocumentOf: "shop") == nil)
        let refusal = rights.refusalToPublish(
            presence, subject: Session.default, key: "1", replacingDocumentOf: "other")
        #expect(refusal?.contains("belongs to 'other'") == true)
        #expect(rights.refusalToPublish(presence, subject: "amelie", key: "1") != nil)
    }

    @Test("A service claims its own consumer, and touches its dead letters only")
    func consumers() throws {
        let rights = try rights("shop")
        #expect(rights.refusalToClaim("shop") == nil)
        #expect(rights.refusalToClaim("shop2") != nil)
        #expect(rights.refusalToReadDeadLetters(of: "shop") == nil)
        #expect(rights.refusalToReadDeadLetters(of: nil) != nil)
        #expect(rights.refusalToSettleDeadLetters(of: "shop") == nil)
        #expect(rights.refusalToSettleDeadLetters(of: "other") != nil)
        #expect(rights.refusalToForget("shop") != nil)
    }

    @Test("The broker has no entry, and a service that shares a name with a role has no more rights")
    func names() throws {
        #expect(Set(shop.services.keys) == ["shop"])
        #expect(try rights("monitor").refusalToRead(topics: "command.") != nil)
        #expect(try rights("operator", "service").refusalToRead(topics: "command.") != nil)
    }

    @Test("A reason is one line, whatever the request contains")
    func lines() throws {
        let rights = try rights("shop")
        let text = "a\nb\u{2028}" + String(repeating: "x", count: 5_000)
        for refusal in [
            rights.refusalToClaim(text), rights.refusalToRead(topics: text),
            rights.refusalToRead(topics: "event.\(text)"),
            rights.refusalToPublish(buy, subject: text, key: text), rights.refusalToForget(text),
        ] {
            let reason = try #require(refusal)
            #expect(!reason.contains("\n") && !reason.contains("\u{2028}"))
            #expect(reason.utf8.count < 1_000)
        }
    }

    @Test("The rights of topics are those of their types, also beyond the number of topics that are kept")
    func topics() throws {
        var topics = TopicRights(try rights("shop"))
        func answer(_ topic: Int, _ type: MessageType, _ subject: String) -> PublishAnswer {
            Array(subject.utf8).withUnsafeBytes { subject in
                Array("1".utf8).withUnsafeBytes { topics.answer(onTopic: topic, of: type, subject: subject, key: $0) }
            }
        }
        for _ in 0..<2 {
            #expect(answer(7, sold, "a") == .allowed)
            #expect(answer(0, buy, "a") == .refused)
            #expect(answer(TopicRights.capacity, sold, "a") == .allowed)
            #expect(answer(2, presence, Session.default) == .allowedToPublisher)
            #expect(answer(2, presence, "a") == .refused)
            #expect(answer(2, presence, "") == .refused)
        }
        // What is kept is not computed again.
        #expect(answer(7, buy, "a") == .allowed)
    }

    @Test("The rights of topics and the reasons for refusals agree")
    func agreement() throws {
        let access = Access(of: [
            DeclaredProgram(
                name: "coordinator", receives: [buy],
                sends: [
                    sold, MessageType(kind: .document, name: "NavigationState"),
                    MessageType(kind: .document, name: "Deadline"),
                ], consumers: ["navigation-coordinator.ios"]),
            DeclaredProgram(
                name: "view", receives: [sold], sends: [buy, MessageType(kind: .command, name: "ScreenDisplayed")],
                consumers: nil),
        ])
        let types = ["NavigationState", "Deadline", "ScheduledCommand", "Presence", "Flow", "Other"].map {
            MessageType(kind: .document, name: $0)
        }
        let keys = ["", "ios", "mac", "ios.screen.1", "iosx", "navigation-coordinator.ios.1", "navigation-coordinator"]
        let users = try [
            KnownKey.sample("coordinator"), .sample("phone", "device", session: "amelie"), .sample("stranger"),
            .sample("watch", "monitor"), .sample("operator"),
        ]
        for user in users {
            let rights = Rights(of: user, in: access)
            var topics = TopicRights(rights)
            for (number, type) in (types + [buy, sold]).enumerated() {
                for (subject, key) in ["amelie", Session.default, "b"].flatMap({ s in keys.map { (s, $0) } }) {
                    let answer = Array(subject.utf8).withUnsafeBytes { subject in
                        Array(key.utf8).withUnsafeBytes {
                            topics.answer(onTopic: number, of: type, subject: subject, key: $0)
                        }
                    }
                    let refusal = rights.refusalToPublish(type, subject: subject, key: key)
                    #expect((answer == .refused) == (refusal != nil), "\(user.name) \(type) \(subject) \(key)")
                }
            }
        }
    }
}

@Suite("The access file")
struct AccessFileTests {
    private func withFolder(_ body: (KeyFolder) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try body(try KeyFolder.create("\(scratch.path)/keys"))
    }

    @Test("A written access is read again, and only the owner can read the file")
    func life() throws {
        try withFolder { folder in
            #expect(try folder.access() == nil)
            let access = Access(of: [
                DeclaredProgram(
                    name: "shop", receives: [MessageType(kind: .query, name: "Price")],
                    sends: [MessageType(kind: .document, name: "Stock")], consumers: ["shop", "stock"])
            ])
            let path = try folder.write(access)
            #expect(path == "\(folder.path)/access.json")
            #expect(try folder.access() == access)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(
        "A damaged file is refused in one line with the path and the remedy",
        arguments: [
            "", "[]", "{}", #"{"services":{},"device":{}}"#, #"{"services":{"../a":{}}}"#,
            #"{"services":{"a":{"publish":[]}}}"#, #"{"services":{"a":{"publishes":["query.A"]}}}"#,
            #"{"services":{"a":{"publishes":["a\nb"]}}}"#, #"{"services":{"a":{"serves":["event.A"]}}}"#,
            #"{"services":{"a":{"claims":[""]}}}"#, #"{"services":{"a":{"reads":"event.A"}}}"#,
            #"{"services":{},"devices":{"claims":["a"]}}"#,
        ])
    func damaged(_ json: String) throws {
        try withFolder { folder in
            _ = try folder.write(Access(services: [:]))
            try Data(json.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/access.json"))
            let error = #expect(throws: BusError.self) { try folder.access() }
            let message = try #require(error?.message)
            #expect(error?.code == .key)
            #expect(message.contains("\(folder.path)/access.json"))
            #expect(message.contains("segue access --write"))
            #expect(!message.contains("\n"))
        }
    }

    @Test("An unknown member is refused with its path")
    func path() throws {
        try withFolder { folder in
            _ = try folder.write(Access(services: [:]))
            let json = #"{"services":{"shop":{"publish":["event.Sold"]}}}"#
            try Data(json.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/access.json"))
            let error = #expect(throws: BusError.self) { try folder.access() }
            #expect(error?.message.contains("shop") == true)
            #expect(error?.message.contains("did you mean 'publishes'?") == true)
        }
    }
}

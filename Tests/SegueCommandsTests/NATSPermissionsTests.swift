import BusAccess
import BusKeys
import EventBus
import Foundation
import NATSPermissions
import Sodium
import Support
import TestSupport
import Testing

@Suite("Permissions of a bus on NATS")
struct NATSPermissionsTests {
    @Test(
        "No permissions are written for a service whose name would change their syntax",
        arguments: ["x\n}, { nkey: UEVIL }", "a b", ""])
    func names(name: String) {
        let access = Access(services: [name: AccessEntry()])
        let error = #expect(throws: BusError.self) {
            try NATSPermissions(of: access, steward: "broker", namespace: "shop")
        }
        #expect(error?.code == .refused)
    }

    @Test("The owner of each key has the rights of its role, and a comment names those without a user")
    func roles() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = try KeyFolder.create("\(scratch.path)/keys")
        let now = Date()
        _ = try folder.add(["operator", "music", "stranger"])
        _ = try folder.add("watcher", role: "monitor")
        _ = try folder.add("phone", role: "device", session: "anna")
        _ = try folder.add("visitor", role: "operator", until: now + 60)
        var entry = AccessEntry()
        entry.publishes = [MessageType(kind: .event, name: "Played")]
        let access = Access(services: ["music": entry, "shop": entry])
        func users(at time: Date) throws -> (text: String, names: [String], keys: [String: String]) {
            let permissions = try NATSPermissions(of: access, keys: folder, namespace: "N", now: time)
            let text = permissions.configuration(keys: [:])
            let matches = text.matches(of: #/# (\w+)\n    \{\n      nkey: (\w+)\n/#)
            let keys = Dictionary(uniqueKeysWithValues: matches.map { (String($0.1), String($0.2)) })
            return (text, permissions.names, keys)
        }
        let present = try users(at: now)
        #expect(present.names == ["broker", "music", "operator", "visitor", "watcher"])
        let known = try folder.known()
        for name in present.names where name != "broker" { #expect(present.keys[name] == known[name]?.nkey) }
        #expect(try present.keys["broker"] == folder.broker().nkey?.publicKey)
        #expect(!present.text.contains("nkey: $"))
        let end = Timestamp.text(of: try #require(known["visitor"]?.until))
        #expect(present.text.contains("    # until \(end): write this file again then\n    # visitor\n    {\n"))
        #expect(present.text.matches(of: #/# until/#).count == 1)
        let parts = present.text.split(separator: "\n    # ").map(String.init)
        func rights(_ name: String) -> String { parts.first { $0.hasPrefix("\(name)\n") } ?? "" }
        #expect(rights("music").contains("\"N.m.-.-.event.Played.*.*\"") && !rights("music").contains("\"N.>\""))
        #expect(
            rights("operator")
                == rights("visitor").replacing("visitor", with: "operator").replacing(
                    present.keys["visitor"] ?? "", with: present.keys["operator"] ?? ""))
        let publish = rights("watcher").prefix { $0 != "]" }
        #expect(publish.contains("\"N.t.event.MetricsRequested.*.*\"") && !publish.contains("N.m"))
        #expect(rights("watcher").dropFirst(publish.count).contains("\"N.>\""))
        for reason in [
            "phone is a device; servers of NATS cannot keep it within its session",
            "stranger is not in the contract; add it, or give its key another role",
            "shop has no key; if it is a service, make one with 'segue keys add shop'",
        ] { #expect(present.text.contains("    # no user: \(reason)\n"), "\(reason)") }
        let later = try users(at: now + 61)
        #expect(
            !later.names.contains("visitor") && later.text.contains("# no user: visitor has a key that has expired"))
    }

    @Test("A broker's key file without an nkey is an error, whose remedy adds one and keeps the key")
    func former() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = try KeyFolder.create("\(scratch.path)/keys")
        let path = folder.file(of: KeyFile.brokerName)
        let key = try folder.broker().keys.publicKey
        let json = try String(contentsOfFile: path, encoding: .utf8)
        let former = json.replacing(#/ *"nkeySeed" : "\w+",\n/#, with: "")
        try #require(former != json)
        try Data(former.utf8).write(to: URL(fileURLWithPath: path))
        let access = Access(services: [:])
        let error = #expect(throws: BusError.self) {
            try NATSPermissions(of: access, keys: folder, namespace: "N")
        }
        #expect(error?.message == "\(path) has no nkey; add one with 'segue keys rotate broker'")
        #expect(try folder.rotate("broker") == path)
        #expect(try NATSPermissions(of: access, keys: folder, namespace: "N").names == ["broker"])
        #expect(try folder.broker().keys.publicKey == key)
        let refusal = #expect(throws: BusError.self) { try folder.rotate("broker") }
        #expect(refusal?.code == .key)
    }
}

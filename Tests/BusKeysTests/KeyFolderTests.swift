import BusKeys
import EventBus
import Foundation
import Sodium
import Support
import TestSupport
import Testing

@Suite("The folder with the keys of a bus")
struct KeyFolderTests {
    private func withFolder(_ body: (KeyFolder, ScratchFolder) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try body(try KeyFolder.create(scratch.path + "/keys"), scratch)
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func error(_ body: () throws -> Void) -> BusError? {
        do { try body() } catch { return error as? BusError }
        return nil
    }

    @Test("A new key is known under its name, and its file has the broker's public key")
    func adding() throws {
        try withFolder { folder, _ in
            let path = try folder.add("music-service")
            let file = try KeyFile(path: path)
            #expect(path == folder.path + "/music-service.key")
            #expect(file.name == "music-service")
            #expect(try file.brokerKey == folder.broker().keys.publicKey)
            #expect(try folder.known().key(file.keys.publicKey, at: .now)?.name == "music-service")
            #expect(try folder.known().list.map(\.name) == ["music-service"])
        }
    }

    @Test("The folder has mode 0700, and every file in it 0600")
    func modes() throws {
        try withFolder { folder, _ in
            _ = try folder.add("a")
            #expect(try mode(folder.path) == 0o700)
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                #expect(try mode("\(folder.path)/\(name)") == 0o600, "\(name)")
            }
        }
    }

    @Test("A replaced key is refused, and the new one is accepted")
    func rotating() throws {
        try withFolder { folder, _ in
            let end = Date(timeIntervalSince1970: 4_000_000_000)
            let old = try KeyFile(path: try folder.add("a", until: end))
            #expect(try folder.known()["a"]?.nkey == old.nkey?.publicKey && old.nkey != nil)
            let new = try KeyFile(path: try folder.rotate("a"))
            let known = try folder.known()
            #expect(known["a"]?.nkey == new.nkey?.publicKey && new.nkey != old.nkey)
            #expect(known.key(old.keys.publicKey, at: .now) == nil)
            #expect(known.key(new.keys.publicKey, at: .now)?.until == end)
            #expect(new.brokerKey == old.brokerKey)
        }
    }

    @Test("A revoked key is refused, and its file is removed")
    func revoking() throws {
        try withFolder { folder, _ in
            let file = try KeyFile(path: try folder.add("a"))
            try folder.revoke("a")
            #expect(try folder.known().key(file.keys.publicKey, at: .now) == nil)
            #expect(!FileManager.default.fileExists(atPath: folder.file(of: "a")))
            let error1 = error { try folder.revoke("a") }
            #expect(error1?.message.contains("'a' has no key") == true)
        }
    }

    @Test("A key has the role that it was given, also after it was replaced")
    func roles() throws {
        try withFolder { folder, _ in
            _ = try folder.add("phone", role: "device", session: "amélie")
            _ = try folder.add(["a", "operator"])
            _ = try folder.add("watch", role: "monitor")
            _ = try folder.rotate("phone")
            let roles = try folder.known().list.map(\.role)
            #expect(roles == [.service, .operator, .device(session: "amélie"), .monitor])
        }
    }

    @Test(
        "A role without its session, a session without its role, and an unknown role are refused",
        arguments: [
            ("device", nil, "a device has a session"), ("service", "a", "only a device has a session"),
            (nil, "a", "only a device has a session"), ("devise", nil, "did you mean 'device'?"),
            ("devise", "a", "did you mean 'device'?"), ("device", "", "at least one character"),
            ("device", "a\nb", "no control characters"), ("device", "e\u{301}", "Normalization Form C"),
            ("device", String(repeating: "a", count: 256), "255 bytes"),
        ] as [(String?, String?, String)])
    func invalidRoles(_ role: String?, _ session: String?, _ reason: String) throws {
        try withFolder { folder, _ in
            let thrown = error { _ = try folder.add("a", role: role, session: session) }
            let error = try #require(thrown)
            #expect(error.message.contains(reason))
            #expect(!error.message.contains("\n"))
            #expect(try folder.known().list.isEmpty)
        }
    }

    @Test("In a list of the version before, 'operator' is an operator, and every other name a service")
    func former() throws {
        try withFolder { folder, _ in
            let keys = (0..<2).map { _ in CurveKeyPair().publicKey }
            let json = """
                {"keys":[{"name":"a","publicKey":"\(keys[0])"},{"name":"operator","publicKey":"\(keys[1])"}]}
                """
            try Data(json.utf8).write(to: URL(fileURLWithPath: folder.list))
            #expect(try folder.known().list.map(\.role) == [.service, .operator])
            #expect(try folder.known().list.allSatisfy { $0.nkey == nil })
        }
    }

    @Test("A key file of the version before has no nkey, and gets one when it is replaced")
    func formerFile() throws {
        try withFolder { folder, _ in
            let path = try folder.add("a")
            let json = try String(contentsOfFile: path, encoding: .utf8)
            let former = json.replacing(#/ *"nkeySeed" : "\w+",\n/#, with: "")
            try #require(former != json)
            try Data(former.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try KeyFile(path: path).nkey == nil)
            #expect(try KeyFile(path: try folder.rotate("a")).nkey != nil)
        }
    }

    @Test("An nkey that could change a server's configuration is refused", arguments: ["U", "UA }", "SU"])
    func damagedNKey(_ beginning: String) throws {
        try withFolder { folder, _ in
            let nkey = beginning + String(repeating: "A", count: beginning == "U" ? 56 : 56 - beginning.utf8.count)
            let json = #"{"keys":[{"name":"a","publicKey":"\#(CurveKeyPair().publicKey)","nkey":"\#(nkey)"}]}"#
            try Data(json.utf8).write(to: URL(fileURLWithPath: folder.list))
            let error = error { _ = try folder.known() }
            #expect(error?.message.contains("0.nkey: the nkey of a user is 'U' and 55 other characters") == true)
        }
    }

    @Test("A key is refused from its end on")
    func ending() throws {
        try withFolder { folder, _ in
            let end = Date(timeIntervalSince1970: 2_000_000_000)
            let file = try KeyFile(path: try folder.add("a", until: end))
            let known = try folder.known()
            #expect(known.key(file.keys.publicKey, at: end - 1) != nil)
            #expect(known.key(file.keys.publicKey, at: end) == nil)
        }
    }

    @Test(
        "A name that is more than a name is refused",
        arguments: ["", "broker", "../a", "a/b", "-a", "é", "a\nb", String(repeating: "a", count: 201)])
    func names(_ name: String) throws {
        try withFolder { folder, _ in
            let error2 = error { _ = try folder.add(name) }
            #expect(error2?.code == .key)
            let known = try folder.known()
            #expect(known.list.isEmpty)
        }
    }

    @Test("Keys are not made twice: neither of a bus nor of a name")
    func twice() throws {
        try withFolder { folder, _ in
            _ = try folder.add("a")
            let error3 = error { _ = try folder.add("a") }
            #expect(error3?.message.contains("segue keys rotate a") == true)
            let error4 = error { _ = try KeyFolder.create(folder.path) }
            #expect(error4?.message.contains("has keys already") == true)
        }
    }

    @Test("A file or a folder that others can read is refused")
    func exposed() throws {
        try withFolder { folder, _ in
            let path = try folder.add("a")
            for (target, bits) in [(path, 0o640), (folder.path, 0o750)] {
                let before = try mode(target)
                try FileManager.default.setAttributes([.posixPermissions: bits], ofItemAtPath: target)
                let error5 = error { _ = try KeyFile(path: path) }
                #expect(error5?.code == .key)
                try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: target)
            }
            #expect(throws: Never.self) { try KeyFile(path: path) }
        }
    }

    @Test("A symbolic link is not followed")
    func link() throws {
        try withFolder { folder, _ in
            let path = try folder.add("a")
            try FileManager.default.createSymbolicLink(atPath: folder.path + "/b.key", withDestinationPath: path)
            let error6 = error { _ = try KeyFile(path: folder.path + "/b.key") }
            #expect(error6?.code == .key)
            #expect(error6?.message.contains("b.key is not a file, but a link, a pipe or a folder; replace it") == true)
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
            let error7 = error { _ = try KeyFile(path: path) }
            #expect(error7?.message.contains("a.key is not a file, but a link, a pipe or a folder") == true)
        }
    }

    @Test("A damaged key file is refused without a word of its content")
    func damaged() throws {
        try withFolder { folder, _ in
            let path = try folder.add("a")
            let json = try String(contentsOfFile: path, encoding: .utf8)
            let secret = try #require(json.firstMatch(of: #/"secretKey" : "([^"]*)"/#)?.output.1)
            let seed = try #require(json.firstMatch(of: #/"nkeySeed" : "([^"]*)"/#)?.output.1)
            let variants = [
                json.replacing(seed, with: "SU" + String(repeating: "A", count: 56)), json.replacing(seed, with: "x"),
                "", "{}", String(json.dropLast(10)),
                json.replacing(secret, with: (secret.hasPrefix("x") ? "y" : "x") + secret.dropFirst()),
                json.replacing("\"a\"", with: "\"../a\""), String(repeating: "x", count: 5_000),
            ]
            for variant in variants {
                try Data(variant.utf8).write(to: URL(fileURLWithPath: path))
                let thrown = error { _ = try KeyFile(path: path) }
                let error = try #require(thrown)
                #expect(error.code == .key)
                #expect(!error.message.contains(secret.dropFirst()) && !error.message.contains("SU"))
                #expect(!error.message.contains("\n"))
            }
        }
    }

    @Test(
        "A damaged list of keys is refused in one line",
        arguments: [
            "", "[]", #"{"keys":[{"name":"a"}]}"#, #"{"keys":[{"name":"a","publicKey":"short"}]}"#,
            #"{"keys":[{"name":"../a","publicKey":"KKKKK"}]}"#, #"{"keys":[{"name":"a\nb"}]}"#,
        ])
    func damagedList(_ json: String) throws {
        try withFolder { folder, _ in
            try Data(json.utf8).write(to: URL(fileURLWithPath: folder.path + "/keys.json"))
            let thrown = error { _ = try folder.known() }
            let error = try #require(thrown)
            #expect(error.code == .key)
            #expect(error.message.contains("keys.json is not a list of keys"))
            #expect(error.message.contains("restore it from a copy"))
            #expect(!error.message.contains("\n"))
        }
    }

    @Test(
        "An entry with an invalid role is refused in one line with its position",
        arguments: [#""role":"king""#, #""role":"device""#, #""session":"s""#, #""role":"device","session":"\n""#])
    func damagedRole(_ member: String) throws {
        try withFolder { folder, _ in
            let json = #"{"keys":[{"name":"a","publicKey":"\#(CurveKeyPair().publicKey)",\#(member)}]}"#
            try Data(json.utf8).write(to: URL(fileURLWithPath: folder.list))
            let thrown = error { _ = try folder.known() }
            let error = try #require(thrown)
            #expect(error.message.contains("0.role: "), "\(error.message)")
            #expect(!error.message.contains("\n"))
        }
    }

    @Test("Two entries with one name or one key are refused")
    func duplicates() throws {
        try withFolder { folder, _ in
            let key = try KeyFile(path: try folder.add("a")).keys.publicKey
            let other = CurveKeyPair().publicKey
            for (name, second) in [("a", other), ("b", key)] {
                let json = """
                    {"keys":[{"name":"a","publicKey":"\(key)"},{"name":"\(name)","publicKey":"\(second)"}]}
                    """
                try Data(json.utf8).write(to: URL(fileURLWithPath: folder.path + "/keys.json"))
                let error7 = error { _ = try folder.known() }
                #expect(error7?.message.contains("duplicate") == true)
            }
        }
    }
}

@Suite("Keys of CurveZMQ")
struct CurveKeyTests {
    @Test("Z85 is that of RFC 32")
    func rfc32() throws {
        // The test vector of the RFC, with four more groups to make a key.
        let group: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]
        let bytes = group + group + group + group
        let text = String(repeating: "HelloWorld", count: 4)
        #expect(CurveKey(bytes)?.description == text)
        #expect(CurveKey(text)?.bytes == bytes)
    }

    @Test(
        "A text that is not the Z85 of 32 bytes is refused",
        arguments: ["", "HelloWorld", String(repeating: "#", count: 40), String(repeating: "é", count: 20)])
    func invalid(_ text: String) {
        #expect(CurveKey(text) == nil)
        #expect(CurveKeyPair(secretKey: text) == nil)
    }

    @Test("Neither the description nor a dump of a key pair contains the secret key")
    func secrecy() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = try KeyFolder.create(scratch.path + "/keys")
        let path = try folder.add("a")
        let json = try String(contentsOfFile: path, encoding: .utf8)
        let secret = try #require(json.firstMatch(of: #/"secretKey" : "([^"]*)"/#)?.output.1)
        let seed = try #require(json.firstMatch(of: #/"nkeySeed" : "([^"]*)"/#)?.output.1)
        let file = try KeyFile(path: path)
        var dumped = ""
        dump(file, to: &dumped)
        for text in ["\(file)", "\(file.keys)", dumped, String(reflecting: file)] {
            #expect(!text.contains(secret) && !text.contains(seed))
            #expect(!text.contains(file.keys.secretKey.prefix(4).map(String.init).joined(separator: ", ")))
        }
    }
}

import Foundation
import Sodium
import Testing

@Suite("Hashes and encryption")
struct SodiumTests {
    func bytes(_ hexadecimal: String) -> Data {
        let digits = Array(hexadecimal.filter { !$0.isWhitespace })
        return Data(
            stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) })
    }

    @Test("SHA-256 gives the digests of FIPS 180-4")
    func digests() {
        #expect(
            SHA256.hash(Data("abc".utf8))
                == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(SHA256.hash(Data()) == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test("HMAC-SHA-256 gives the code of RFC 4231, test case 1")
    func hmac() throws {
        // A key shorter than a block is padded with zeros, so the 20 bytes of the RFC are the same key as these 32.
        let key = try #require(HMAC.Key(Data(repeating: 0x0b, count: 20) + Data(count: 12)))
        #expect(
            HMAC.code(of: Data("Hi There".utf8), with: key)
                == bytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        #expect(HMAC.Key(Data(count: 31)) == nil)
    }

    @Test("Base64 for URLs is decoded strictly")
    func base64() {
        #expect(Base64URL.decode("-_8") == Data([0xfb, 0xff]))
        for text in ["+/8", "-_8=", "a", "!"] { #expect(Base64URL.decode(text) == nil) }
    }

    @Test("SipHash gives the hash of its paper, appendix A")
    func sipHash() throws {
        let key = try #require(SipHash.Key(Data(0..<16)))
        #expect(SipHash.hash(Array(0..<15), with: key) == 0xa129_ca61_49be_45e5)
        #expect(SipHash.Key(Data(0..<15)) == nil)
    }

    @Test("A message that another implementation sealed is opened: RFC 8439, appendix A.5")
    func foreignMessage() throws {
        let key = try #require(
            ChaChaPoly.Key(bytes("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0")))
        let sealed = bytes(
            """
            000000000102030405060708
            64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d26b0
            bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c855
            9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cde7a4e9
            9040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a
            0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77987130
            305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709b
            eead9d67890cbb22392336fea1851f38
            """)
        let message = try ChaChaPoly.open(sealed, with: key, label: bytes("f33388860000000000004e91"))
        #expect(String(decoding: message, as: UTF8.self).hasPrefix("Internet-Drafts are draft documents"))
    }

    @Test("A sealed text is opened only with the same key and label, and is sealed differently each time")
    func roundTrip() throws {
        let (key, label) = (ChaChaPoly.Key(), Data("tokens".utf8))
        for message in [Data(), Data("a".utf8), Data(count: 100_000)] {
            let sealed = ChaChaPoly.seal(message, with: key, label: label)
            #expect(sealed.count == 12 + message.count + 16)
            #expect(try ChaChaPoly.open(sealed, with: key, label: label) == message)
            #expect(ChaChaPoly.seal(message, with: key, label: label) != sealed)
            #expect(throws: ChaChaPoly.NotAuthentic.self) {
                try ChaChaPoly.open(sealed, with: ChaChaPoly.Key(), label: label)
            }
            #expect(throws: ChaChaPoly.NotAuthentic.self) {
                try ChaChaPoly.open(sealed, with: key, label: Data("pending".utf8))
            }
            // A slice does not begin at index 0.
            #expect(try ChaChaPoly.open((Data("magic".utf8) + sealed).dropFirst(5), with: key, label: label) == message)
        }
    }

    @Test("A changed bit or a missing byte is refused")
    func damage() {
        let (key, label) = (ChaChaPoly.Key(), Data())
        let sealed = ChaChaPoly.seal(Data("message".utf8), with: key, label: label)
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(throws: ChaChaPoly.NotAuthentic.self) { try ChaChaPoly.open(damaged, with: key, label: label) }
            #expect(throws: ChaChaPoly.NotAuthentic.self) {
                try ChaChaPoly.open(sealed.prefix(index), with: key, label: label)
            }
        }
    }

    @Test("A key has 32 bytes", arguments: [0, 31, 33])
    func keySize(count: Int) {
        #expect(ChaChaPoly.Key(Data(count: count)) == nil)
        #expect(ChaChaPoly.Key(Data(count: 32)) != nil)
    }

    @Test("Secrets are equal if all their bytes are")
    func comparison() {
        #expect(ConstantTime.areEqual(Data(), Data()))
        #expect(ConstantTime.areEqual(Data("abc".utf8), Data("abc".utf8)))
        #expect(!ConstantTime.areEqual(Data("abc".utf8), Data("abd".utf8)))
        #expect(!ConstantTime.areEqual(Data("abc".utf8), Data("ab".utf8)))
    }

    @Test("Random bytes differ")
    func random() {
        #expect(RandomBytes.make(0).isEmpty)
        #expect(RandomBytes.make(32).count == 32)
        #expect(Set((0..<100).map { _ in RandomBytes.make(16) }).count == 100)
    }
}

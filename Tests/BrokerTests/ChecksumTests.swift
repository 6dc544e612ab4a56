import Testing

@testable import Broker

@Suite("Checksums")
struct ChecksumTests {
    @Test(
        "XXH64 is what its authors publish",
        arguments: [
            ("", 0xef46_db37_51d8_e999), ("a", 0xd24e_c4f1_a98c_6e5b), ("abc", 0x44bc_2cf5_ad77_0999),
            ("Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1),
        ] as [(String, UInt64)])
    func vectors(text: String, hash: UInt64) {
        let bytes = Array(text.utf8)
        let own = bytes.withUnsafeBytes { XXH64.hash($0) }
        #expect(own == hash)
    }
}

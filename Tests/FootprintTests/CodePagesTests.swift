import Foundation
import Testing

@testable import Footprint

@Suite("Pages that a process gives back")
struct CodePagesTests {
    @Test("Only those are, that cannot be written and are as in their file")
    func clean() {
        let smaps = """
            1000-3000 r-xp 00000000 08:01 5      /usr/bin/service
            Size:                  8 kB
            Anonymous:             0 kB
            VmFlags: rd ex mr
            3000-4000 r--p 00002000 08:01 5      /usr/bin/service
            Anonymous:             4 kB
            4000-5000 rw-p 00003000 08:01 5      /usr/bin/service
            Anonymous:             0 kB
            5000-6000 r--p 00000000 00:00 0
            Anonymous:             0 kB
            6000-7000 r-xp 00000000 00:00 0      [vdso]
            Anonymous:             0 kB
            7000-8000 r--s 00000000 08:01 6      /var/shared
            Anonymous:             0 kB
            8000-a000 r--p 00000000 08:01 7      /usr/lib/lib with space.so (deleted)
            Anonymous:             0 kB
            """
        #expect(CodePages.clean(in: smaps) == [0x1000..<0x3000, 0x8000..<0xa000])
        #expect(CodePages.clean(in: "nonsense\n\nAnonymous: 0 kB\nx-y r-xp 0 0 0 /a\nAnonymous: 0 kB").isEmpty)
    }

    @Test("A process goes on with less in memory, and what it needs comes back")
    func release() throws {
        let before = try residentFilePages()
        CodePages.release()
        let after = try residentFilePages()
        #expect(after < before)
        #expect((1...100).map { String($0) }.joined().hashValue == (1...100).map { "\($0)" }.joined().hashValue)
    }

    /// In kB, as proc_pid_status(5) tells.
    private func residentFilePages() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        return try #require(status.firstMatch(of: #/RssFile:\s+(\d+)/#).flatMap { Int($0.1) })
    }
}

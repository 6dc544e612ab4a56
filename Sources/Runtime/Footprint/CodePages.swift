internal import Foundation

#if canImport(Glibc)
internal import Glibc
#endif

/// The pages of a process that hold code and constants, straight from files.
package enum CodePages {
    /// Unmaps them. What is used again comes back from the kernel's cache, a few microseconds each; what only the start of the
    /// process needed does not: relocations, the parsing of arguments, the search of the runtime's tables. And the kernel
    /// maps pages around each that is used, so that most of them never were.
    ///
    /// Only of mappings that cannot be written and have no page of their own: one with relocations in it (RELRO) is not
    /// the file's any more, and would be lost.
    package static func release() {
        guard let text = try? String(contentsOfFile: "/proc/self/smaps", encoding: .utf8) else { return }
        #if canImport(Glibc)
        for range in clean(in: text) {
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
        #endif
    }

    /// The mappings in a text of proc_pid_smaps(5) that are as their file is.
    static func clean(in smaps: String) -> [Range<UInt>] {
        var found: [Range<UInt>] = []
        var candidate: Range<UInt>?
        for line in smaps.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            if fields.count >= 5, !fields[0].hasSuffix(":") {
                candidate =
                    fields.count >= 6 && fields[5].hasPrefix("/") && isReadOnly(fields[1]) ? range(fields[0]) : nil
            } else if fields.first == "Anonymous:", fields[1] == "0", let range = candidate {
                found.append(range)
            }
        }
        return found
    }

    private static func isReadOnly(_ permissions: Substring) -> Bool {
        permissions.hasPrefix("r-") && permissions.hasSuffix("p")
    }

    private static func range(_ text: Substring) -> Range<UInt>? {
        let bounds = text.split(separator: "-").compactMap { UInt($0, radix: 16) }
        return bounds.count == 2 && bounds[0] < bounds[1] ? bounds[0]..<bounds[1] : nil
    }
}

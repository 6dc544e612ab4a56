import Foundation
import HTTPClient
import HTTPTypes

/// Sends requests to the URL in its argument, and prints by how much its memory (bytes) and its open descriptors grew
/// in the last thousand rounds.
@main
struct HTTPFixture {
    static func main() async throws {
        let url = CommandLine.arguments.last ?? ""
        try await HTTPClient.with { client in
            // The first rounds fill caches of libcurl and of the allocator.
            try await exchange(500, url, client)
            let before = try (residentBytes(), descriptors())
            try await exchange(1000, url, client)
            try print(residentBytes() - before.0, descriptors() - before.1, terminator: " ")
        }
    }

    /// In each round one request that is answered, and one whose answer is too long.
    private static func exchange(_ rounds: Int, _ url: String, _ client: HTTPClient) async throws {
        for round in 0..<rounds {
            let request = HTTPClient.Request(round.isMultiple(of: 2) ? .get : .post, url)
            _ = try await client.send(request, deadline: .seconds(30), maximumBody: 1 << 20)
            _ = try? await client.send(request, deadline: .seconds(30), maximumBody: 10)
        }
    }

    private static func residentBytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(pages[1]) ?? 0) * Int(getpagesize())
    }

    private static func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}

import Music
import Testing

@testable import SpotifyAPI

/// Reads lists from a script, without I/O.
@Suite("Reading a list page by page")
struct ListReadingTests {
    private typealias Reading = ListReading<String>

    private func songs() -> Reading { Reading(.playlist("p"), hasVersion: true, isUnique: false, identity: \.self) }
    private func playlists() -> Reading { Reading(.playlists, hasVersion: false, isUnique: true, identity: \.self) }

    private func page(
        _ items: [String], next: Bool, total: Int? = nil, limit: Int? = nil, entries: Int? = nil
    ) -> Reading.Page {
        Reading.Page(
            items: items, entryCount: entries ?? items.count, hasNext: next, limit: limit, total: total)
    }

    /// Answers all requests of a reading, and returns the requests.
    private func run(
        _ reading: inout Reading, page: (Int, Int) -> Reading.Page, version: (Int) -> String? = { _ in nil }
    ) throws -> [Reading.Request] {
        var requests: [Reading.Request] = []
        while let request = reading.next {
            requests.append(request)
            switch request {
            case .page(let offset): try reading.receive(page(offset, requests.count))
            case .version: reading.receive(version: version(requests.count))
            }
            try #require(requests.count <= 1000, "the reading does not end")
        }
        return requests
    }

    @Test("A list of one page is complete after it, whatever its total is", arguments: [nil, 0, 2, 1000, 50_000])
    func onePage(total: Int?) throws {
        for var reading in [songs(), playlists()] {
            let requests = try run(&reading, page: { _, _ in page(["a", "b"], next: false, total: total) })
            #expect(requests == [.page(offset: 0)])
            #expect(reading.items == ["a", "b"])
        }
    }

    @Test("A list with a version is read once, between two equal versions")
    func version() throws {
        var reading = songs()
        let requests = try run(
            &reading, page: { offset, _ in page(["s\(offset)"], next: offset < 100) }, version: { _ in "v" })
        #expect(
            requests == [
                .page(offset: 0), .version, .page(offset: 0), .page(offset: 50), .page(offset: 100), .version,
            ])
        #expect(reading.items == ["s0", "s50", "s100"])
    }

    @Test("A version that changes each time is ignored, and two equal passes count")
    func restlessVersion() throws {
        var reading = songs()
        let requests = try run(
            &reading, page: { offset, _ in page(["s\(offset)"], next: offset < 50) }, version: { "v\($0)" })
        #expect(requests.filter { $0 == .page(offset: 50) }.count == 2)
        #expect(requests.filter { $0 == .version }.count == 2)
        #expect(reading.items == ["s0", "s50"])
    }

    @Test("A version that cannot be read is requested once, and two equal passes count")
    func noVersion() throws {
        var reading = songs()
        let requests = try run(&reading, page: { offset, _ in page(["s\(offset)"], next: offset < 50) })
        #expect(
            requests == [
                .page(offset: 0), .version, .page(offset: 50), .page(offset: 0), .page(offset: 50),
            ])
    }

    @Test("A total that differs between pages is ignored, and the last pass counts")
    func restlessTotal() throws {
        for var reading in [songs(), playlists()] {
            let requests = try run(
                &reading, page: { offset, number in page(["s\(offset)"], next: offset < 100, total: number) },
                version: { _ in "v" })
            #expect(requests.suffix(3) == [.page(offset: 0), .page(offset: 50), .page(offset: 100)])
            #expect(reading.items == ["s0", "s50", "s100"])
        }
    }

    @Test("A list and version that change in each pass count as in the last pass")
    func unrest() throws {
        var reading = songs()
        let requests = try run(
            &reading, page: { offset, number in page(["s\(number)"], next: offset < 50) }, version: { "v\($0)" })
        let last = requests.count
        #expect(requests.filter { $0 == .page(offset: 50) }.count == Reading.maximumPasses)
        #expect(reading.items == ["s\(last - 1)", "s\(last)"])
    }

    @Test("Entries that Spotify leaves out count in the offset, unless it sends shorter pages")
    func offsets() throws {
        var reading = songs()
        _ = try run(&reading, page: { offset, _ in page(["s\(offset)"], next: offset < 50) }, version: { _ in "v" })
        #expect(reading.items == ["s0", "s50"])
        var short = songs()
        let requests = try run(
            &short, page: { offset, _ in page(["s\(offset)"], next: offset < 40, limit: 20) }, version: { _ in "v" })
        #expect(requests.suffix(4) == [.page(offset: 0), .page(offset: 20), .page(offset: 40), .version])
    }

    @Test("A page without entries is the last one, unless the total says that entries follow")
    func emptyPage() throws {
        var ending = songs()
        #expect(try run(&ending, page: { _, _ in page([], next: true) }) == [.page(offset: 0)])
        var reading = songs()
        _ = try run(
            &reading, page: { offset, _ in page(offset == 0 ? [] : ["s"], next: offset == 0, total: 60) },
            version: { _ in "v" })
        #expect(reading.items == ["s"])
    }

    @Test("A page with a strange limit does not stop the reading, nor move it back", arguments: [-7, 0, 1, 1_000_000])
    func strangeLimit(limit: Int) throws {
        var reading = playlists()
        let requests = try run(
            &reading, page: { offset, _ in page(["a", "b"], next: offset < 100, limit: limit, entries: 2) })
        #expect(requests.count <= 102)
        #expect(reading.items == ["a", "b"])
    }

    @Test("A page with more entries than requested moves the reading after all of them")
    func longPage() throws {
        var reading = playlists()
        let requests = try run(
            &reading,
            page: { offset, _ in
                offset == 0
                    ? page((0..<100).map { "\($0)" }, next: true, total: 101)
                    : page(["last"], next: false, total: 101)
            })
        #expect(requests.contains(.page(offset: 100)) && !requests.contains(.page(offset: 50)))
    }

    @Test("A list that is too long is an error, at the first page if its total shows it")
    func tooLong() {
        for (total, count) in [(10_001, 1), (nil, 200)] {
            var reading = songs()
            let error = #expect(throws: MusicError.self) {
                var requests = 0
                defer { #expect(requests == count) }
                while let request = reading.next {
                    requests += 1
                    guard case .page = request else {
                        reading.receive(version: nil)
                        requests -= 1
                        continue
                    }
                    let items = Array(repeating: "s", count: 50)
                    try reading.receive(page(items, next: true, total: total))
                }
            }
            #expect(error == .tooLong(.playlist("p"), limit: 10_000))
        }
    }

    @Test("After an interruption all passes are allowed again")
    func resume() throws {
        var reading = playlists()
        var pages = 0
        while case .page(let offset) = reading.next {
            pages += 1
            // The first page of the third pass.
            if pages == 5 { reading.resume() }
            try reading.receive(page(["\(pages)"], next: offset == 0))
        }
        #expect(pages == 4 + 2 * Reading.maximumPasses)
    }
}

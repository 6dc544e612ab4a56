import EventBus
import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import Broker

@Suite("The folder and the journal of a broker")
struct DoorTests {
    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func start(_ scratch: ScratchFolder, bus: String = "bus") async throws {
        let configuration = BrokerConfiguration(
            address: "ipc://\(scratch.path(bus))", journal: scratch.path("journal.sqlite"))
        try await Broker(configuration, logger: .silent)
            .run { throw CancellationError() }
    }

    private func inScratch(_ body: (ScratchFolder) async throws -> Void) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        try await body(scratch)
    }

    @Test(
        "The journal and its files are accessible only to their user, also those of an earlier version",
        arguments: [0, 0o644])
    func journal(earlier: mode_t) async throws {
        try await inScratch { scratch in
            chmod(scratch.path, 0o755)
            let files = ["", "-wal", "-shm"].map { scratch.path("journal.sqlite\($0)") }
            if earlier != 0 {
                // A broker that was killed leaves all three files; SQLite removes two of them when a journal is closed.
                let before = try Journal(path: scratch.path("before.sqlite"))
                try before.transaction(at: 0) { _ in }
                for (suffix, file) in zip(["", "-wal", "-shm"], files) {
                    try FileManager.default.copyItem(atPath: scratch.path("before.sqlite\(suffix)"), toPath: file)
                    #expect(chmod(file, earlier) == 0)
                }
                withExtendedLifetime(before) {}
            }
            let journal = try Journal(path: files[0])
            try journal.transaction(at: 0) { _ in }
            #expect(try (files + [files[0] + ".end"]).map(mode) == [0o600, 0o600, 0o600, 0o600])
        }
    }

    @Test("A folder that others can enter is refused, and so is a link", arguments: [0o777, 0o755, 0o710, 0])
    func folder(mode: mode_t) async throws {
        try await inScratch { scratch in
            mkdir(scratch.path("other"), 0o700)
            if mode == 0 {
                symlink(scratch.path("other"), scratch.path("bus"))
            } else {
                mkdir(scratch.path("bus"), 0o700)
                chmod(scratch.path("bus"), mode)
            }
            let error = await #expect(throws: BusError.self) { try await start(scratch) }
            #expect(error?.code == .address && error?.message.contains(scratch.path("bus")) == true)
            #expect(access(scratch.path("journal.sqlite"), F_OK) != 0)
        }
    }

    @Test(
        "A folder or a journal of another user is refused", .enabled(if: geteuid() == 0),
        arguments: ["bus", "journal.sqlite"])
    func owner(name: String) async throws {
        try await inScratch { scratch in
            mkdir(scratch.path("bus"), 0o700)
            try Data().write(to: scratch.url.appending(path: "journal.sqlite"))
            #expect(chown(scratch.path(name), 4_242, 4_242) == 0)
            let error = await #expect(throws: BusError.self) { try await start(scratch) }
            #expect(error?.message.contains(scratch.path(name)) == true)
            #expect(error?.code == (name == "bus" ? .address : .journal))
        }
    }
}

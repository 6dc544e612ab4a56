import Foundation
import Glibc
import Projects
import TestSupport
import Testing

@Suite("Place of a project")
struct ProjectPlaceTests {
    private static let environment = ["XDG_RUNTIME_DIR": "/r"]

    private func inFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let folder = scratch.url.appending(path: "My_App/The App")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "compose"), withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        try body(folder.path)
    }

    @Test(
        "The address of the bus is that of the project, of the folder's compose files, or of the folder",
        arguments: [
            ([:], "theapp"), (["compose.yaml": "name: mine\n"], "mine"),
            (["compose.yaml": "# It\nservices: {}\nname : \"a-1\"  # mine\r\n"], "a-1"),
            (["compose.yaml": "name: mine", "compose.override.yaml": "name: 'other'"], "other"),
            (["compose.yml": "services:\n  name: x\n"], "theapp"), (["compose/default.yaml": "name: two"], "two"),
            (["compose/default.yaml": "services: {}"], "compose"),
            (["compose.yaml": "name: mine", ".env": "A=$B\nexport\tCOMPOSE_PROJECT_NAME = 'env' # it\n"], "env"),
            (["compose.yaml": "name: mine", "o.yaml": "name: o", ".env": "COMPOSE_FILE=o.yaml"], "o"),
        ])
    func address(files: [String: String], name: String) throws {
        try inFolder(files) { folder in
            let found = try ProjectPlace.bus(of: nil, in: folder, environment: Self.environment).address
            #expect(found == "ipc:///r/segue/\(name)/bus")
            #expect(
                try ProjectPlace.bus(of: "x", in: folder, environment: Self.environment).address
                    == "ipc:///r/segue/x/bus")
        }
    }

    @Test("Another user's folder does not determine the bus, and a folder of this user does")
    func runtimeFolder() throws {
        try inFolder([:]) { folder in
            let root = "\(folder)/segue-\(getuid())"
            let address = { try ProjectPlace.bus(of: "x", in: folder, environment: ["TMPDIR": folder]).address }
            #expect(try address() == "ipc://\(root)/x/bus")
            // The first look has made the folder, so that no other user can.
            try FileManager.default.createDirectory(
                atPath: "\(root)/x", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try "nats://localhost/S".write(toFile: "\(root)/x/bus-address", atomically: false, encoding: .utf8)
            #expect(try address() == "nats://localhost/S")
            for path in ["\(root)/x", root] {
                #expect(chmod(path, 0o755) == 0)
                let error = #expect(throws: ProjectPlace.Unknown.self) { try address() }
                #expect(error?.description.contains("\(path) is not a folder that only you can enter") == true)
            }
            try FileManager.default.moveItem(atPath: root, toPath: "\(folder)/theirs")
            chmod("\(folder)/theirs", 0o700)
            try FileManager.default.createSymbolicLink(atPath: root, withDestinationPath: "\(folder)/theirs")
            #expect(throws: ProjectPlace.Unknown.self) { try address() }
        }
    }

    @Test("A removed folder is refused with its path, and a named project needs no folder")
    func removedFolder() throws {
        let environment = ["PWD": "/gone", "XDG_RUNTIME_DIR": "/r"]
        let error = #expect(throws: ProjectPlace.Unknown.self) {
            try ProjectPlace.bus(of: nil, in: "", environment: environment)
        }
        #expect(error?.description == "the current folder, /gone, has been removed; name the project with -p NAME")
        #expect(try ProjectPlace.bus(of: "x", in: "", environment: environment).address == "ipc:///r/segue/x/bus")
    }

    @Test(
        "A project that cannot be determined is refused with a remedy",
        arguments: ["${NAME:-x}", ">-\n  a", "A", "", "a b"])
    func unknown(name: String) throws {
        try inFolder(["compose.yaml": "name: \(name)\n"]) { folder in
            let error = #expect(throws: ProjectPlace.Unknown.self) {
                try ProjectPlace.bus(of: nil, in: folder, environment: Self.environment).address
            }
            #expect(error?.description.contains("-p NAME") == true)
        }
        #expect(throws: ProjectPlace.Unknown.self) { try ProjectPlace.bus(of: "../x", in: "/") }
    }
}

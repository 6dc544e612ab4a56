import Foundation
import TestSupport
import Testing

/// Programs that read the formats that Segue writes.
enum FormatReaders {
    private static let python = Repository.path(".build/venv/bin/python")

    /// True if the Python environment is there. `make test` creates it.
    static var areInstalled: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// Reads documents of a format. Each function of the script reads one document.
    ///
    /// - Returns: The texts that the reader found in the documents. Nil if the reader is not installed.
    static func read(_ format: String, _ documents: [String]) async throws -> [[String]]? {
        let input = String(decoding: try JSONEncoder().encode(documents), as: UTF8.self)
        let answer = try await TestProgram(python, ["-c", script, format, Repository.path(".build")]).output(
            input: input)
        return try JSONDecoder().decode([[String]]?.self, from: Data(answer.utf8))
    }

    private static let script = #"""
        import csv, html, io, json, os, pty, re, shutil, socket, subprocess, sys, tempfile
        from html.parser import HTMLParser

        build = sys.argv[2]

        def run(*command, text=""):
            return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()

        def bash(line):
            return run("bash", "-c", "printf '%s\\0' " + line).split("\0")[:-1]

        def zsh(line):
            return run("zsh", "-fc", "printf '%s\\0' " + line).split("\0")[:-1] if shutil.which("zsh") else None

        # A document has one completion on each line. Zsh completes each on a line of its own, and reads the line.
        def completion(document):
            if not shutil.which("zsh"): return None
            with tempfile.TemporaryDirectory() as folder:
                with open(folder + "/texts", "w", newline="") as copy:
                    copy.write("\0".join(document.split("\n")) + "\0")
                with open(folder + "/.zshrc", "w") as copy:
                    copy.write(r"""
                        autoload -Uz compinit; compinit -u -D
                        _candidate() { local -a found; found=("$candidate"); _describe -V '' found }
                        compdef _candidate candidate
                        read-all() {
                            local candidate
                            for candidate in ${(0)"$(<$ZDOTDIR/texts)"}; do
                                BUFFER="candidate "; CURSOR=$#BUFFER; zle complete-word
                                eval "set -- $BUFFER"; print -rN -- "$2" >>$ZDOTDIR/found
                            done
                            exit
                        }
                        zle -N read-all; bindkey '^X' read-all
                        """)
                child, terminal = pty.fork()
                if child == 0:
                    os.environ.update(ZDOTDIR=folder, HOME=folder, TERM="xterm", LC_ALL="C.UTF-8")
                    os.execvp("zsh", ["zsh", "-i"])
                # The first output is the prompt.
                try:
                    os.read(terminal, 4096)
                    os.write(terminal, b"\x18")
                    while os.read(terminal, 4096): pass
                except OSError: pass  # The shell has closed the terminal.
                os.waitpid(child, 0)
                with open(folder + "/found", "rb") as found: return found.read().decode().split("\0")[:-1]

        # The words of the command after the first, and the values of the variables.
        def unit(text):
            if not shutil.which("systemd-analyze"): return None
            with tempfile.NamedTemporaryFile("w", suffix=".service", newline="") as file:
                file.write(text)
                file.flush()
                # With this level, systemd prints the unit as it has read it.
                environment = {**os.environ, "SYSTEMD_LOG_LEVEL": "debug"}
                read = subprocess.run(["systemd-analyze", "--man=no", "verify", file.name], env=environment,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            command = re.search(r"\n\t+Command Line: \S+ (.*)\n", read)[1]
            words = [text if plain == "" else plain for text, plain in re.findall(r'"((?:[^"\\]|\\.)*)"|([^ ]+)', command)]
            controls = dict(zip("abfnrtv", "\a\b\f\n\r\t\v"))
            unescape = lambda match: chr(int(match[1], 8)) if len(match[1]) == 3 else controls.get(match[1], match[1])
            # A manager replaces $$ when it executes the command.
            return [re.sub(r"\\([0-7]{3}|.)", unescape, word).replace("$$", "$") for word in words] + \
                re.findall(r"\n\t\tEnvironment: V\d+=(.*?)(?=\n\t\t[A-Z]\w*: )", read, re.S)

        def environment(file):
            with tempfile.NamedTemporaryFile("w", newline="") as copy:
                copy.write(file)
                copy.flush()
                return run("bash", "-c", 'set -a; . "$0"; env -0', copy.name).split("V=", 1)[1].split("\0")[:1]

        def page(text):
            class Reader(HTMLParser):
                found = []
                def handle_starttag(self, name, attributes): self.found += [name] + [value or "" for _, value in attributes]
                def handle_data(self, data): self.found.append(data)
            reader = Reader()
            reader.found = []
            # A browser turns CR and CRLF into LF before it reads the page; html.parser does not.
            reader.feed(text.replace("\r\n", "\n").replace("\r", "\n"))
            reader.close()
            return reader.found

        def table(text):
            rows = list(csv.reader(io.StringIO(text, newline="")))
            assert len(rows) == 1, rows
            return rows[0]

        def metric(text):
            promtool = build + "/promtool"
            if not os.access(promtool, os.X_OK): return None
            run(promtool, "check", "metrics", text=text)
            value = re.search(r'\{name="((?:[^"\\\n]|\\.)*)"\} 1\n\Z', text).group(1)
            return [re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], value)]

        def drawing(text):
            if not shutil.which("dot"): return None
            label = json.loads(run("dot", "-Tjson", text=text))["objects"][0]["_ldraw_"]
            return [part["text"] for part in label if part["op"] == "T"]

        def mermaid(text):
            assert text[0] == text[-1] == '"' and '"' not in text[1:-1] and "\n" not in text, text
            lines = text[1:-1].split("<br>")
            assert not any(set(line) & set("<>`&") for line in lines), text
            return [html.unescape(re.sub(r"#(\w+);", lambda m: "&#%s;" % m[1] if m[1].isdigit() else "&%s;" % m[1], line))
                    for line in lines]

        def yaml(text):
            from ruamel.yaml import YAML
            return [YAML(typ="safe", pure=True).load(text)["key"]]

        # In a value of a compose file, a single dollar sign begins a variable.
        def compose(text):
            value = yaml(text)[0]
            assert "$" not in value.replace("$$", ""), value
            return [value.replace("$$", "$")]

        # A document is a JSON object: the strings of users' names in the configuration, and the names with which to log in.
        def nats(document):
            document = json.loads(document)
            server = build + "/nats-server"
            if not os.access(server, os.X_OK): return None
            with tempfile.TemporaryDirectory() as folder:
                file = folder + "/nats.conf"
                users = "\n".join("{ user: %s, password: x }" % string for string in document["strings"])
                with open(file, "w", newline="") as copy:
                    copy.write("authorization { users: [\n%s\n] }\n" % users)
                arguments = ["-a", "127.0.0.1", "-p", "-1"]
                process = subprocess.Popen([server, "-c", file, *arguments], stderr=subprocess.PIPE)
                try:
                    log = b""
                    while b"Server is ready" not in log:
                        line = process.stderr.readline()
                        assert line, log.decode()
                        log += line
                    port = int(re.search(rb"client connections on 127.0.0.1:(\d+)", log)[1])
                    return [user for user in document["names"] if knows(port, user)]
                finally:
                    process.kill()
                    process.communicate()

        def knows(port, user):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
                login = json.dumps({"user": user, "pass": "x", "verbose": False})
                link.sendall(("CONNECT %s\r\nPING\r\n" % login).encode())
                answer = b""
                while b"PONG" not in answer and b"-ERR" not in answer:
                    part = link.recv(4096)
                    if not part: break
                    answer += part
                return b"PONG" in answer

        documents = json.load(sys.stdin)
        reader = globals()[sys.argv[1]]
        found = [reader(document) for document in documents]
        print(json.dumps(None if None in found else found))
        """#
}

/// The meaning of the language of flows in Promela, as the pages about flows describe it: the state, the parts of it that
/// conditions read, and the actions. It has nothing of the machine, so that a mistake in one is not in the other.
///
/// It needs the macros of a flow, which ``PromelaModel`` writes before it. Screens are numbers from 1 to `SCREENS`. Layer 0
/// is the root with its path; each presentation is a further layer. Unused elements are 0, so that equal states have equal
/// vectors. Hidden variables do not belong to the state.
enum PromelaLanguage {
    static let text = [state, reading, changes, actions].joined(separator: "\n")

    private static let state = """
        byte layers;
        byte base[LAYERS];
        byte kind[LAYERS];
        byte length[LAYERS];
        byte path[LAYERS * CAPACITY];

        /* The state before the step, and before the actions of a rule. */
        hidden byte oldLayers; hidden byte oldBase[LAYERS]; hidden byte oldKind[LAYERS];
        hidden byte oldLength[LAYERS]; hidden byte oldPath[LAYERS * CAPACITY];
        hidden byte keptLayers; hidden byte keptBase[LAYERS]; hidden byte keptKind[LAYERS];
        hidden byte keptLength[LAYERS]; hidden byte keptPath[LAYERS * CAPACITY];

        #define FRONT (layers - 1)
        #define PUSHED(layer, index) path[(layer) * CAPACITY + (index)]
        #define SCREEN(layer, place) ((place) == 0 -> base[layer] : PUSHED(layer, (place) - 1))
        #define TOP_OF(layer) SCREEN(layer, length[layer])
        #define TOP TOP_OF(FRONT)

        c_decl {
            static void writeState(
                char *to, int layers, const unsigned char *base, const unsigned char *kind,
                const unsigned char *length, const unsigned char *path)
            {
                for (int layer = 0; layer < layers; layer++) {
                    to += sprintf(to, "%s%d:%d", layer ? "/" : "", kind[layer], base[layer]);
                    for (int index = 0; index < length[layer]; index++)
                        to += sprintf(to, ",%d", path[layer * CAPACITY + index]);
                }
                *to = 0;
            }
            static char former[LAYERS * (CAPACITY + 1) * 4];
            static char current[LAYERS * (CAPACITY + 1) * 4];
            static const char *cause = "";
            static unsigned char told[RULES][2];
        }

        #define COPY(toLayers, toBase, toKind, toLength, toPath, fromLayers, fromBase, fromKind, fromLength, fromPath) \\
            toLayers = fromLayers; \\
            for (cell : 0 .. LAYERS - 1) { \\
                toBase[cell] = fromBase[cell]; toKind[cell] = fromKind[cell]; toLength[cell] = fromLength[cell] \\
            } \\
            for (cell : 0 .. LAYERS * CAPACITY - 1) { toPath[cell] = fromPath[cell] }
        inline keep() {
            COPY(keptLayers, keptBase, keptKind, keptLength, keptPath, layers, base, kind, length, path)
        }
        inline undo() {
            COPY(layers, base, kind, length, path, keptLayers, keptBase, keptKind, keptLength, keptPath)
        }

        """

    private static let reading = """
        hidden int cell; hidden int item; hidden int layer; hidden int rest;
        #define NONE (-1)
        /* The sender: its screen, or 0. While it is open, its layer, and the length of the path up to it. */
        hidden byte sender; hidden int senderLayer; hidden int senderPlace;
        hidden byte found; hidden byte ok; hidden byte applied; hidden byte asking; hidden byte askingKind; hidden byte beyond;
        hidden byte pushed;
        hidden byte onPath[SCREENS + 1]; hidden byte presented[SCREENS + 1]; hidden byte shown[SCREENS + 1];
        hidden byte copies[SCREENS + 1];

        inline sentByFront() { sender = TOP; senderLayer = FRONT; senderPlace = length[FRONT] }
        /* The sender is no longer open; 0 if there is none. */
        inline sentBy(screen) { sender = screen; senderLayer = NONE }

        /* Finds what conditions read. */
        inline look() {
            pushed = 0;
            for (cell : 0 .. SCREENS) { onPath[cell] = 0; presented[cell] = 0; shown[cell] = 0; }
            for (cell : 0 .. layers - 1) {
                shown[TOP_OF(cell)] = 1;
                if :: cell > 0 -> presented[base[cell]] = 1 :: else -> skip fi;
                for (item : 0 .. length[cell] - 1) {
                    pushed = 1;
                    onPath[PUSHED(cell, item)] = 1
                }
            }
        }

        /* Finds the instance of a screen nearest to the front, on paths or also beneath them: its layer, and the length of
           the path up to it. */
        inline find(screen, withBase) {
            found = 0;
            layer = layers;
            do
            :: !found && layer > 0 ->
                layer--;
                rest = length[layer];
                do
                :: !found && rest > 0 -> if :: PUSHED(layer, rest - 1) == screen -> found = 1 :: else -> rest-- fi
                :: else -> break
                od;
                if :: withBase && !found && base[layer] == screen -> found = 1 :: else -> skip fi
            :: else -> break
            od
        }

        /* Tells if the user can leave all screens from one on the front path on. */
        inline check(first) {
            ok = 1;
            for (item : first .. length[FRONT] - 1) {
                if :: STAYS(PUSHED(FRONT, item)) -> ok = 0 :: else -> skip fi
            }
        }

        /* Tells if a screen is on a path, or presented, more often than the exploration follows. */
        inline measure() {
            beyond = 0;
            for (cell : 0 .. layers - 1) {
                for (item : 0 .. SCREENS) { copies[item] = 0 }
                for (item : 0 .. length[cell] - 1) {
                    copies[PUSHED(cell, item)]++;
                    if :: copies[PUSHED(cell, item)] > REPETITIONS -> beyond = 1 :: else -> skip fi
                }
            }
            for (item : 0 .. SCREENS) { copies[item] = 0 }
            for (cell : 1 .. layers - 1) {
                copies[base[cell]]++;
                if :: copies[base[cell]] > REPETITIONS -> beyond = 1 :: else -> skip fi
            }
        }

        """

    private static let changes = """
        /* Leaves so many screens on the path of a layer. */
        inline shorten(number, to) {
            if :: senderLayer == number && senderPlace > to -> senderLayer = NONE :: else -> skip fi;
            for (cell : to .. length[number] - 1) { PUSHED(number, cell) = 0 }
            if :: length[number] > to -> length[number] = to :: else -> skip fi
        }

        /* Dismisses the presentations from a layer on. */
        inline dismissFrom(first) {
            if :: senderLayer >= first -> senderLayer = NONE :: else -> skip fi;
            for (item : first .. layers - 1) { shorten(item, 0); base[item] = 0; kind[item] = 0 }
            if :: layers > first -> layers = first :: else -> skip fi
        }

        inline append(screen) {
            PUSHED(FRONT, length[FRONT]) = screen;
            length[FRONT]++
        }

        /* The beginning and the end of a step. Beyond the bounds of the exploration, it has no state. */
        inline begin() {
            COPY(oldLayers, oldBase, oldKind, oldLength, oldPath, layers, base, kind, length, path);
            c_code { writeState(former, now.layers, now.base, now.kind, now.length, now.path); }
        }
        inline end() {
            measure();
            if
            :: beyond ->
                COPY(layers, base, kind, length, path, oldLayers, oldBase, oldKind, oldLength, oldPath);
                c_code { printf("beyond %s %s\\n", former, cause); }
            :: else ->
                c_code {
                    writeState(current, now.layers, now.base, now.kind, now.length, now.path);
                    if (strcmp(former, current)) printf("edge %s %s %s\\n", former, current, cause);
                }
            fi
        }

        """

    /// Each action fails, or changes the state. An action that fails changes nothing.
    private static let actions = """
        inline setRoot(screen) {
            senderLayer = NONE;
            dismissFrom(1);
            shorten(0, 0);
            base[0] = screen
        }
        inline push(screen) {
            if
            :: ONCE(screen) && TOP == screen -> skip
            :: else -> if :: QUESTION(kind[FRONT]) -> ok = 0 :: else -> append(screen) fi
            fi
        }
        inline pushOnSender(screen) {
            if
            :: senderLayer == NONE -> ok = 0
            :: else ->
                layer = senderLayer;
                if
                :: ONCE(screen) && TOP_OF(layer) == screen -> skip
                :: else ->
                    if
                    :: QUESTION(kind[layer]) -> ok = 0
                    :: else -> PUSHED(layer, length[layer]) = screen; length[layer]++
                    fi
                fi
            fi
        }
        inline pop(number) {
            if :: length[FRONT] < number -> ok = 0 :: else -> rest = length[FRONT] - number; shorten(FRONT, rest) fi
        }
        inline popTo(screen) {
            find(screen, true);
            if :: !found -> ok = 0 :: else -> shorten(layer, rest) fi
        }
        inline popFrom(screen) {
            find(screen, false);
            if :: !found -> ok = 0 :: else -> rest--; shorten(layer, rest) fi
        }
        inline popToRoot() { shorten(FRONT, 0) }
        inline goTo(screen) {
            find(screen, true);
            if
            :: found -> dismissFrom(layer + 1); shorten(layer, rest)
            :: else -> push(screen)
            fi
        }
        inline back() {
            if
            :: length[FRONT] > 0 -> if :: STAYS(TOP) -> ok = 0 :: else -> pop(1) fi
            :: length[FRONT] == 0 && layers > 1 ->
                if :: SHEET(kind[FRONT]) -> dismissFrom(FRONT) :: else -> ok = 0 fi
            :: else -> ok = 0
            fi
        }
        inline present(screen, style) {
            if
            :: ONCE(screen) && layers > 1 && base[FRONT] == screen -> skip
            :: else ->
                if
                :: QUESTION(kind[FRONT]) -> ok = 0
                :: else -> base[layers] = screen; kind[layers] = style; layers++
                fi
            fi
        }
        inline dismiss() {
            if :: layers == 1 -> ok = 0 :: else -> dismissFrom(FRONT) fi
        }
        inline dismissPresentation(screen) {
            found = 0;
            layer = layers;
            do
            :: !found && layer > 1 -> layer--; if :: base[layer] == screen -> found = 1 :: else -> skip fi
            :: else -> break
            od;
            if :: !found -> ok = 0 :: else -> dismissFrom(layer) fi
        }
        /* The sender, all above it on its path, and the presentations over the path. An alert in front stays. */
        inline popSender() {
            if
            :: senderLayer == NONE || senderPlace == 0 -> ok = 0
            :: else ->
                layer = senderLayer;
                rest = senderPlace - 1;
                asking = (FRONT > layer && QUESTION(kind[FRONT]) -> base[FRONT] : 0);
                askingKind = kind[FRONT];
                dismissFrom(layer + 1);
                shorten(layer, rest);
                if :: asking -> base[layers] = asking; kind[layers] = askingKind; layers++ :: else -> skip fi
            fi
        }
        /* The presentation in which the sender lies. */
        inline dismissSender() {
            if :: senderLayer < 1 -> ok = 0 :: else -> layer = senderLayer; dismissFrom(layer) fi
        }
        inline dismissAll() { dismissFrom(1) }

        """
}

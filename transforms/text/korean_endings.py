"""The endings that Korean attaches to a noun: a closed list, packed for a kernel.

Particles (josa) follow nouns without a space, and so do the copula and the light verbs *hada*,
*doeda* and *sikida*. The right form of a particle depends on the last sound of the noun (Sohn
1999, The Korean Language), which distinguishes 파일|은 from 하는. Words that only look like a noun
with a particle (결과, 속도, 작은) are listed too. Both lists were written by hand, and completed
with words of GNOME's help pages that Kiwi 0.24, a morphological analyser, cuts differently.
"""

import functools
import itertools
from collections.abc import Iterator

import numpy as np

from pairweave.transforms.kernels.text.korean import (
    AFTER_CONSONANT,
    AFTER_NUMBER,
    AFTER_RIEUL,
    AFTER_VOWEL,
    CUT_SHIFT,
    LISTED,
    LONG_STEM,
    SYLLABLES,
    WHOLE,
    EndingTable,
    slot_of,
)

_ANY = AFTER_CONSONANT | AFTER_RIEUL | AFTER_VOWEL
_CLOSED = AFTER_CONSONANT | AFTER_RIEUL
_OPEN = AFTER_VOWEL
_OPEN_OR_RIEUL = AFTER_VOWEL | AFTER_RIEUL

# Particles of case and topic and those that replace them, by the sounds or numbers before them.
_PARTICLES = (
    (_CLOSED | AFTER_NUMBER, "은 이 을"),
    (_CLOSED | AFTER_NUMBER, "과 과는 과도 과의 과만"),
    (_OPEN | AFTER_NUMBER, "는 가 를 와 와는 와도 와의 와만"),
    (_ANY | AFTER_NUMBER, "의 에"),
    (_ANY, "도 만 만을 만이 만의 만은 만으로 만으로는 만으로도"),
    (
        _ANY | AFTER_NUMBER,
        "에는 에도 에만 에나 에서 에서는 에서도 에서만 에서의 에서부터 에서까지 에서와 에서나 "
        "에서라도 에게 에게는 에게도 에게만 에게서 한테 께서 께서는 까지 까지는 까지도 까지의 "
        "까지만 까지를 까지로 부터 부터는 부터도 부터의 부터가 처럼 처럼도 보다 보다는 보다도 "
        "마다 마다의 밖에 밖에는 만큼 만큼의 만큼만 뿐 뿐만 조차 마저 대로 대로의",
    ),
)
_DIRECTION = (
    "로 로는 로도 로만 로의 로나 로서 로서는 로서도 로서의 "
    "로써 로써만 로부터 로부터의 로까지 로라도 로라면 로든"
)
_PLURAL = (
    "들 들은 들이 들을 들의 들에 들에는 들에서 들에게 들과 "
    "들과의 들도 들만 들로 들로부터 들까지 들처럼"
)

# The copula, and the particles made of it.
_COPULA = (
    (_ANY | AFTER_NUMBER, "입니다 입니까"),
    (
        _CLOSED | AFTER_NUMBER,
        "이라 이라는 이라고 이라고는 이라고도 이라면 이라도 이란 이든 이든지 이나 이며 이고 "
        "이지만 이므로 이면 이어야 이었습니다 이거나",
    ),
    (_OPEN | AFTER_NUMBER, "라는 라고 라고는 라고도 라면 라도 든지 였습니다"),
)

# Forms of the verbs that turn a noun into a verb; the noun has two syllables or more.
_LIGHT_VERBS = (
    "하다 하다고 하다면 합니다 합니까 하는 하는게 하는건 하는데 하는지 하는대로 한 한다 "
    "한다고 한다면 한다는 한지 할 할지 할까요 해 해야 해야합니다 해야할 해야한다 해서 해도 "
    "하여 하여야 하여도 하고 하고자 하며 하면 하면서 하려 하려면 하려고 하려는 하도록 하기 "
    "하기를 하기가 하기는 하기도 하기에 하기에는 하기만 하기보다는 하거나 하지 하지는 하지도 "
    "하지만 하지마 하십시오 하세요 하시오 하시는 하실 하신 하신다면 하셔야 하셔도 하게 하게도 "
    "하던 하듯 하긴 하므로 하나요 하겠습니다 하겠다면 하였습니다 했습니다 했습니다만 했다 "
    "했다고 했다는 했다면 했던 했거나 했고 했기 했는데 했는지 했으며 했으면 했을 했을지 "
    "했지만 했더라도 함으로써 해보세요 해보십시오 해봅니다 해보면 해보려면 해보아야 해봐야 "
    "해볼 해주는 해주기 해주며 해주면 해줄 해준 해줍니다 해줘야 해주십시오 해주세요 "
    "해드립니다 해둡니다 해두면 되다 됩니다 됩니까 되는 되는데 되는지 된 된다 된다고 된다면 "
    "된다는 될 될지 돼 돼야 되어 되어도 되어야 되고 되며 되면 되면서 되도록 되기 되기를 "
    "되기도 되기에 되거나 되지 되지는 되지도 되지만 되게 되던 되므로 되었습니다 되었고 "
    "되었는지 되었을 되었거나 되었다면 되었으며 되었으면 되었지만 됐습니다 됐거나 됐는지 "
    "됐다면 됐을 됨 시킵니다 시키는 시킨 시킬 시켜 시켜야 시키고 시키며 시키면 시키려면 "
    "시키도록 시키기 시키거나 시키지 시켰습니다"
)

# Stems that end as if with the copula, and their endings: 움직이는, 줄입니다.
_STEMS_IN_I = (
    "직 줄 높 붙 들 놓 쌓 먹 죽 녹 섞 깎 덮 꺾 박 묶 울 짝 빡 덕 보 쓰 모",
    "이는 이고 이며 이면 이지만 이므로 이라 이라는 이라고 이라면 이거나 이어야 입니다",
)

# Words, and ends of words, whose last syllables are not a particle. After `^`: only the whole word.
_NO_PARTICLE = (
    # 이
    "높이 길이 넓이 깊이 많이 같이 종이 놀이 먹이 굳이 없이 일찍이 깊숙이 더욱이 틀림이 "
    "낱낱이 고양이 호랑이 원숭이 어린이 젊은이 손잡이 풀이 되풀이 길잡이 걸이 달팽이 깜박이 "
    "깜빡이 끈적이 일일이 듯이 ^벌이 맞이",
    # 은 and 을 of adjectives and verbs whose stem is not a noun
    "높은 낮은 짧은 넓은 좁은 굵은 밝은 얇은 깊은 붉은 젊은 늦은 싶은 찮은 잖은 꽂은 찍은 "
    "묶은 뽑은 씻은 깎은 닮은 죽은 먹은 읽은 얻은 같은 붙은 믿은 겪은 없은 ^작은 ^적은 ^받은 "
    "^찾은 ^닫은 ^잡은 ^막은 ^입은 ^남은 ^맞은 ^물은 ^걸은 ^심은 ^접은 ^담은 ^숨은 ^검은 "
    "^혹은 ^낡은 ^옅은 ^짙은 ^품은 ^넘은 려받은 어받은 높을 낮을 짧을 넓을 좁을 굵을 밝을 "
    "얇을 깊을 늦을 싶을 찮을 잖을 꽂을 찍을 묶을 뽑을 씻을 깎을 닮을 죽을 먹을 읽을 얻을 "
    "같을 붙을 믿을 겪을 없을 ^작을 ^적을 ^받을 ^찾을 ^닫을 ^잡을 ^막을 ^입을 ^남을 ^맞을 "
    "^물을 ^심을 ^접을 ^담을 ^숨을 ^옮을 ^넘을 려받을 어받을",
    # 는 of verbs
    "또는 하는 되는 시키는 려는 다는 냐는 게는 어서는 아서는 여서는 해서는 어지는 아지는 "
    "여지는 려지는 워지는 해지는 라지는 러지는 겨지는 켜지는 꺼지는 춰지는 써지는 커지는 "
    "져지는 껴지는 깨지는 빠지는 가지는 던지는 만지는 터지는 퍼지는 뜨지는 나지는 주지는 "
    "^지는 걸리는 불리는 열리는 알리는 돌리는 올리는 풀리는 들리는 틀리는 실리는 딸리는 "
    "늘리는 날리는 팔리는 물리는 말리는 잘리는 살리는 울리는 흘리는 놀리는 내리는 느리는 "
    "버리는 누리는 가리는 그리는 다리는 때리는 뿌리는 달리는 드리는 뜨리는 미치는 마치는 "
    "겹치는 고치는 펼치는 합치는 끼치는 다치는 놓치는 넘치는 바치는 그치는 부딪치는 딪히는 "
    "^치는 으키는 리키는 켜는 옮기는 숨기는 남기는 생기는 맡기는 넘기는 당기는 즐기는 이기는 "
    "챙기는 새기는 바뀌는 꾸는 맞추는 감추는 멈추는 갖추는 낮추는 늦추는 배우는 지우는 채우는 "
    "비우는 피우는 세우는 키우는 깨우는 ^두는 어두는 아두는 려두는 해두는 르는 그는 이루는 "
    "다루는 미루는 ^드는 만드는 힘드는 ^주는 어주는 아주는 해주는 려주는 여주는 혀주는 춰주는 "
    "러주는 와주는 쓰는 끄는 뜨는 으는 보내는 타내는 끝내는 ^내는 어내는 해내는 지내는 꺼내는 "
    "뭉개는 타나는 어나는 끝나는 지나는 만나는 증나는 ^나는 떠나는 겨나는 닥나는 ^오는 져오는 "
    "어오는 아오는 나오는 러오는 려오는 해오는 ^가는 나가는 어가는 아가는 려가는 져가는 "
    "해가는 ^보는 어보는 아보는 려보는 해보는 라보는 펴보는 ^사는 ^타는 ^차는 ^서는 ^여는 "
    "^아는 ^파는 ^크는 ^자는 ^세는 바라는 따라는 놀라는 자라는 하라는 아니라는",
    # 가
    "추가 ^휴가 ^허가 ^부가 ^대가 ^화가 ^저가 ^고가 ^주가 ^시가 ^내가 ^나가 ^누가 ^기가 ^메가 "
    "^요가 ^아가 들어가 걸어가 넘어가 이어가 늘어가 내려가 올라가 돌아가 살아가 지나가 져나가 "
    "찾아가 따라가 다가",
    # 를 of verbs
    "누를 따를 흐를 두를 ^고를 ^모를 ^다를 ^부를 ^오를 ^이를",
    # 로
    "^바로 ^새로 ^서로 ^따로 ^별로 ^스스로 ^홀로 ^함부로 ^회로 ^미로 ^제로 ^유로 매크로 ^가로 "
    "^세로 ^피로 ^도로 ^수로 ^프로 ^주로 ^이로 ^때로 ^실로 ^날로 ^위로 ^수시로 그대로 이대로 "
    "제대로 멋대로 므로",
    # 의
    "^회의 ^정의 ^동의 ^주의 ^문의 ^합의 ^강의 ^논의 ^협의 ^편의 ^예의 ^결의 ^유의 ^고의 "
    "^토의 ^호의 ^임의 ^거의 ^의의 ^건의 ^심의 ^명의 ^하의 재정의 자정의 화상회의",
    # 도
    "속도 온도 해상도 각도 별도 년도 연도 밀도 습도 농도 빈도 감도 척도 궤도 난이도 선명도 "
    "투명도 선호도 만족도 정확도 신뢰도 완성도 중요도 복잡도 유사도 인지도 민감도 진행도 "
    "닌텐도 ^정도 ^지도 ^제도 ^용도 ^시도 ^의도 ^유도 ^고도 ^명도 ^강도 ^태도 ^한도 ^채도 "
    "^경도 ^위도 ^진도 ^광도 ^순도 ^파도 ^인도 ^포도 ^그래도 더라도 있어도 없어도 않아도 "
    "되어도 적어도 싶어도 넣어도 같아도 많아도 좋아도 작아도 보아도 하여도 눌러도 해도 "
    "어느정도",
    # 과
    "결과 ^경과 ^통과 ^성과 ^학과 ^일과 ^불과 ^전과 ^초과 ^효과",
    # 만
    "지만 불만 미만 백만 천만 십만 니다만 ^다만 ^그만 ^이만 ^수만 ^오만 ^자만",
    # 보다, 라도, 라고, 라면
    "아보다 어보다 해보다 려보다 ^이라도 아니라고 아니라면",
    # 들
    "만들 흔들 아들 버들 반들 번들 핸들 캔들",
    # 하다 and 되다 after words that are not nouns
    "야합니다 야할 야한 야한다 야하며 야하고 야하는 싶어할 싶어합니다 싶어하는 싶어하지 "
    "려워할 려워하는 러워하는 게합니다 게할 게하는 게하려면 하려할 으려할 무제한 권한 최대한 "
    "최소한 분할 오래된 오래되어 오래되었거나 오래되면 오래되지",
)

# Nouns with a particle that end like one of the words above; a bar marks the cut.
_NOUNS = (
    "단추|가 이미지|만 메시지|만 페이지|만 패키지|만 휴지|만 반대|로 절대|로 확대|로 최대|로 "
    "상대|로 시대|로 현대|로 연결|과 해결|과 대결|과 카메라|는 카메라|도 카메라|고 나라|는 "
    "나라|도"
)


def endings() -> dict[str, int]:
    """Return how words with each listed ending are cut.

    Returns:
        By ending: the number of syllables to cut off, shifted by ``CUT_SHIFT``, and flags for the
        text that may precede them (`transforms.kernels.text.korean`).
    """
    entries: dict[str, int] = {}
    for flags, words in (*_PARTICLES, *_COPULA):
        entries |= {word: _entry(len(word), flags) for word in words.split()}
    for word in _DIRECTION.split():
        entries[word] = _entry(len(word), _OPEN_OR_RIEUL | AFTER_NUMBER)
        entries["으" + word] = _entry(len(word) + 1, AFTER_CONSONANT | AFTER_NUMBER)
    entries |= {word: _entry(len(word), _ANY) for word in _PLURAL.split()}
    entries |= {word: _entry(len(word), _ANY | LONG_STEM) for word in _LIGHT_VERBS.split()}
    listed = dict(_excepted(entries))
    for noun in _NOUNS.split():
        stem, _, particle = noun.partition("|")
        listed[stem + particle] = _entry(len(particle), _ANY)
    # After a noun of two syllables, 하는 is the verb; after one syllable it ends another verb.
    return listed | {
        word: entry for word, entry in entries.items() if word not in listed or entry & LONG_STEM
    }


def _entry(syllables: int, flags: int) -> int:
    return LISTED | flags | syllables << CUT_SHIFT


def _excepted(particles: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Yield words that only seem to end with a particle, alone and followed by a particle.

    결과 is listed because 과 is a particle; 과는 is one too, so 결과|는 has to be listed as well.
    """
    after: dict[str, list[str]] = {}
    for longer in particles:
        for place in range(1, len(longer)):
            if longer[place:] in particles:
                after.setdefault(longer[:place], []).append(longer[place:])
    stems, tails = (words.split() for words in _STEMS_IN_I)
    for word in itertools.chain(
        " ".join(_NO_PARTICLE).split(), map("".join, itertools.product(stems, tails))
    ):
        whole = WHOLE if word.startswith("^") else 0
        noun = word.removeprefix("^")
        yield noun, LISTED | whole
        for begin in range(len(noun)):
            for rest in after.get(noun[begin:], ()):
                if noun + rest not in particles:
                    yield noun + rest, particles[rest] | whole


@functools.cache
def ending_table() -> EndingTable:
    """Return the endings as a tree that is read from the end of a word, in flat arrays."""
    children: dict[tuple[int, int], int] = {}
    entries = [0]
    for word, entry in endings().items():
        node = 0
        for syllable in reversed(word):
            key = node, ord(syllable) - SYLLABLES
            if key not in children:
                children[key] = len(entries)
                entries.append(0)
            node = children[key]
        entries[node] = entry
    size = 1 << (2 * len(children)).bit_length()
    keys, nodes = np.zeros(size, np.int64), np.zeros(size, np.int32)
    for (parent, number), child in children.items():
        slot = slot_of(parent, number, size)
        while keys[slot]:
            slot = (slot + 1) & (size - 1)
        keys[slot], nodes[slot] = 1 + (parent << 16 | number), child
    return EndingTable(keys, nodes, np.array(entries, np.int32))

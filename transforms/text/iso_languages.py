"""Languages of ISO 639-1 with their codes in ISO 639-2 and 639-3."""

import functools

# ISO 639-1 with ISO 639-3 and the other code of ISO 639-2, if there is one; where models name a
# member of a macrolanguage instead, that follows. Why this is not a library's table:
# deploy/decisions/0008-libraries.md.
_ISO = """
aa:aar ab:abk ae:ave af:afr ak:aka,twi am:amh an:arg ar:ara,arb as:asm av:ava ay:aym,ayr az:aze,azj
ba:bak be:bel bg:bul bi:bis bm:bam bn:ben bo:bod,tib br:bre bs:bos ca:cat ce:che ch:cha co:cos
cr:cre cs:ces,cze cu:chu cv:chv cy:cym,wel da:dan de:deu,ger dv:div dz:dzo ee:ewe el:ell,gre en:eng
eo:epo es:spa et:est,ekk eu:eus,baq fa:fas,per,pes ff:ful,fuv fi:fin fj:fij fo:fao fr:fra,fre fy:fry
ga:gle gd:gla gl:glg gn:grn,gug gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun
hy:hye,arm hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl,ice it:ita iu:iku ja:jpn
jv:jav ka:kat,geo kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau,knc ks:kas
ku:kur,kmr kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav,lvs
mg:mlg,plt mh:mah mi:mri,mao mk:mkd,mac ml:mal mn:mon,khk mr:mar ms:msa,may,zsm mt:mlt my:mya,bur
na:nau nb:nob nd:nde ne:nep,npi ng:ndo nl:nld,dut nn:nno no:nor,nob nr:nbl nv:nav ny:nya oc:oci
oj:oji om:orm,gaz or:ori,ory os:oss pa:pan pi:pli pl:pol ps:pus,pbt pt:por qu:que,quy rm:roh rn:run
ro:ron,rum ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk,slo sl:slv sm:smo sn:sna
so:som sq:sqi,alb,als sr:srp ss:ssw st:sot su:sun sv:swe sw:swa,swh ta:tam te:tel tg:tgk th:tha
ti:tir tk:tuk tl:tgl,fil tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd
uz:uzb,uzn ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid,ydd yo:yor za:zha zh:zho,chi,cmn zu:zul
"""

UNDETERMINED = "und"
"""The language tag of text whose language is not known (BCP 47)."""

NAMES: dict[str, tuple[str, ...]] = {
    short: (short, *longer.split(","))
    for short, longer in (entry.split(":") for entry in _ISO.split())
}
"""The codes of each language of ISO 639-1, beginning with that code."""

SHORT = {name: short for short, names in reversed(NAMES.items()) for name in names} | {
    names[1]: short for short, names in NAMES.items()
}
"""The code of ISO 639-1 for each other code of a language; its own one if it has one."""

DEPRECATED = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro"}
"""The code of ISO 639-1 for each that it replaced (IANA's registry of language subtags)."""


# Every column of texts asks for the same few tags.
@functools.lru_cache(maxsize=1024)
def primary_tag(language: str | None) -> str:
    """Return the language of a BCP 47 tag, by its current code of two letters if it has one.

    >>> primary_tag("zh-Hant"), primary_tag("zh_Hans"), primary_tag("khm"), primary_tag(None)
    ('zh', 'zh', 'km', '')
    >>> primary_tag("iw-IL"), primary_tag("twi")
    ('he', 'tw')
    """
    first = (language or "").replace("_", "-").split("-")[0].lower()
    return DEPRECATED.get(first) or SHORT.get(first, first)
